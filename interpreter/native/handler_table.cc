#include "interpreter/native/handler_table.h"

namespace interpreter::native {

const Handlers* HandlerTable::FindFor(const kube::Object& object) const {
  const absl::string_view api_version = object.api_version();
  const size_t slash = api_version.find('/');
  if (slash == absl::string_view::npos) return FindParts({"", api_version, object.kind()});
  return FindParts({api_version.substr(0, slash), api_version.substr(slash + 1), object.kind()});
}

}  // namespace interpreter::native
