// The binding by which a MultiClusterService has its Service propagated: pure functions on JSON.
#ifndef CONTROLLERS_MULTI_CLUSTER_SERVICE_SERVICE_BINDING_H_
#define CONTROLLERS_MULTI_CLUSTER_SERVICE_SERVICE_BINDING_H_

#include <set>
#include <string>

#include "kube/meta/object.h"

namespace controllers {

struct ServiceBindingParts {
  const kube::Object& service;  // The MultiClusterService.
  const kube::Object& target;   // Its Service.
  const std::set<std::string>& clusters;
};

// Returns `existing`, or a new binding when that is nullptr, with what the MultiClusterService owns
// of it: its claim, an owner reference to the Service (not a controlling one, as upstream's), and
// of the spec resource, placement and conflictResolution. Everything else stays, above all what the
// scheduler has written.
kube::Object ServiceBinding(const ServiceBindingParts& parts, const kube::Object* existing);

// Returns whether the bindings differ only in the recorded resourceVersion of the Service, or not
// at all.
bool DifferOnlyInServiceVersion(const kube::Object& a, const kube::Object& b);

// Returns whether an update of a claimed binding touched what the MultiClusterService owns of it.
bool OwnedPartChanged(const kube::Object& before, const kube::Object& after);

}  // namespace controllers

#endif  // CONTROLLERS_MULTI_CLUSTER_SERVICE_SERVICE_BINDING_H_
