#include "interpreter/native/handler_table.h"

#include <algorithm>

#include "kube/meta/api_version.h"

namespace interpreter::native {

const Handlers* HandlerTable::FindFor(const kube::Object& object) const {
  const auto split = kube::SplitApiVersion(object.api_version());
  return split ? FindParts({split->group, split->version, object.kind()}) : nullptr;
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
  RegisterInjected(table);
  return table;
}

}  // namespace interpreter::native
