// Where the binding of a template is.
#ifndef API_BINDING_ADDRESS_H_
#define API_BINDING_ADDRESS_H_

#include "absl/strings/string_view.h"
#include "kube/meta/names.h"

namespace api {

struct BindingAddress {
  const kube::Resource& resource;  // ResourceBindings() or ClusterResourceBindings().
  kube::ObjectKey key;
};

// Returns the address of the binding of the object of that kind: a ResourceBinding in the object's
// namespace, or a ClusterResourceBinding if the object has no namespace. It is named by
// BindingName.
BindingAddress BindingOf(absl::string_view kind, const kube::ObjectKey& object);

}  // namespace api

#endif  // API_BINDING_ADDRESS_H_
