// What the workload of a binding uses in all clusters together, as quotas count it.
#ifndef API_BINDING_USAGE_H_
#define API_BINDING_USAGE_H_

#include "absl/status/statusor.h"
#include "api/binding.h"
#include "api/resource_list.h"

namespace api {

// Returns the requests of all replicas that the binding's clusters have; of a workload with
// components, those of one set for each cluster. Resources of which nothing is used are left out
// (upstream's helper.CalculateResourceUsage). kInvalidArgument when a request is negative or no
// quantity.
absl::StatusOr<ResourceList> UsageOf(const BindingView& binding);

// Returns whether two states of a binding may differ in what it uses.
bool MayUseOther(const kube::Object& before, const kube::Object& after);

}  // namespace api

#endif  // API_BINDING_USAGE_H_
