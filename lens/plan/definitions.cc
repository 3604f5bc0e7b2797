#include "lens/plan/definitions.h"

#include <utility>

#include "lens/plan/outcome.h"
#include "sandbox/sim/kinds.h"

namespace lens::plan {

// An apply would leave what the server's own definition has and the given one has not.
absl::Status ReplaceDefinition(sandbox::Backend& backend, const kube::Object& now,
                               kube::Object definition) {
  for (const char* field : {"labels", "annotations"}) {
    for (const json::Member& member : now.metadata()[field].members()) {
      if (!IsKarmadaKey(member.name())) continue;
      definition.Set({"metadata", field, member.name()}, member.value);
    }
  }
  definition.Set({"metadata", "finalizers"}, now.metadata()["finalizers"]);
  definition.Set({"metadata", "resourceVersion"}, now.resource_version());
  return backend.Update(sandbox::kinds::Definitions().gvr(), std::move(definition)).status();
}

}  // namespace lens::plan
