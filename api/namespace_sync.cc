#include "api/namespace_sync.h"

#include "absl/strings/match.h"
#include "api/keys.h"
#include "api/names.h"

namespace api {

bool IsKeptFromSync(const kube::Object& ns) {
  return ns.IsDeleting() || ns.name() == "default" || IsReservedNamespace(ns.name()) ||
         absl::EqualsIgnoreCase(ns.Label(kSkipAutoPropagationLabel), "true");
}

}  // namespace api
