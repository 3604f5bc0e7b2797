#include "api/binding_address.h"

#include "api/names.h"
#include "api/resources.h"

namespace api {

BindingAddress BindingOf(absl::string_view kind, const kube::ObjectKey& object) {
  return {object.ns.empty() ? ClusterResourceBindings() : ResourceBindings(),
          {object.ns, BindingName(kind, object.name)}};
}

}  // namespace api
