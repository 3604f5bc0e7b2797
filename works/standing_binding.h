// Which binding stands for an object that several bindings name.
//
// Karmada makes one binding for each object, whose name follows from the object. Somebody may have
// made others for it, by hand or as copies. One of all stands for the object: the one that has the
// name which Karmada gives, else the oldest. So it does not matter which one a loop looks at first.
#ifndef WORKS_STANDING_BINDING_H_
#define WORKS_STANDING_BINDING_H_

#include <functional>
#include <string>
#include <vector>

#include "absl/strings/string_view.h"
#include "kube/cache/cluster_client.h"
#include "kube/meta/names.h"
#include "kube/meta/object.h"
#include "kube/runtime/reconciler.h"

namespace works {

// The index of bindings of either scope by the object that they name, for
// ControllerBuilder::Reads. Versions and groups of kinds are not part of it: neither are they of
// the names of bindings and Works.
inline constexpr char kBindingsByObject[] = "spec.resource";
std::vector<std::string> ObjectNamedBy(const kube::Object& binding);

// Returns requests for the bindings that name the object of this kind, those of other namespaces
// apart. REQUIRES: the index kBindingsByObject of the bindings of the object's scope is declared as
// read.
std::vector<kube::Request> RequestsForBindingsOf(kube::ClusterClient& client,
                                                 absl::string_view kind,
                                                 const kube::ObjectKey& object);

// Returns the binding that stands for the object among those that name it, for which `counts`
// returns true, and which are not being deleted; nullptr for none. REQUIRES: as above.
kube::ObjectPtr StandingBinding(kube::ClusterClient& client, absl::string_view kind,
                                const kube::ObjectKey& object,
                                const std::function<bool(const kube::Object&)>& counts);

// Returns the bindings that stand for the binding's object rather than this one: in a cluster where
// one of them is placed, this one is a copy. REQUIRES: as above.
std::vector<kube::ObjectPtr> BindingsBefore(kube::ClusterClient& client,
                                            const kube::Object& binding);

}  // namespace works

#endif  // WORKS_STANDING_BINDING_H_
