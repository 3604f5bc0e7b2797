#include "interpreter/native/handler_table.h"

#include <algorithm>

namespace interpreter::native {

const Handlers* HandlerTable::FindFor(const kube::Object& object) const {
  const absl::string_view api_version = object.api_version();
  const size_t slash = api_version.find('/');
  if (slash == absl::string_view::npos) return FindParts({"", api_version, object.kind()});
  return FindParts({api_version.substr(0, slash), api_version.substr(slash + 1), object.kind()});
}

std::vector<kube::Gvk> HandlerTable::Kinds() const {
  std::vector<kube::Gvk> kinds;
  for (const auto& [gvk, handlers] : table_) kinds.push_back(gvk);
  std::sort(kinds.begin(), kinds.end());
  return kinds;
}

HandlerTable AllHandlers() {
  HandlerTable table;
  RegisterWorkloads(table);
  RegisterJobs(table);
  RegisterPods(table);
  RegisterNetwork(table);
  RegisterVolumes(table);
  RegisterCredentials(table);
  RegisterScaling(table);
  return table;
}

}  // namespace interpreter::native
