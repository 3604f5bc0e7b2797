// Decides which resources of nodes and pods count, and in which amounts, as the scheduler does.
#ifndef KUBE_META_SCHEDULED_RESOURCES_H_
#define KUBE_META_SCHEDULED_RESOURCES_H_

#include <cstdint>

#include "absl/strings/string_view.h"
#include "kube/meta/quantity.h"

namespace kube {

// Returns true for cpu, memory, ephemeral-storage, pods and the scalar resources: extended ones,
// hugepages-, attachable-volumes- and those of kubernetes.io (upstream's
// resourcehelper.IsScalarResourceName).
bool IsScheduledResource(absl::string_view name);

// Returns the amount of a quantity that the scheduler counts: thousandths of cpu, whole units of
// anything else, each rounded up and saturating at int64.
int64_t ScheduledAmount(absl::string_view name, const Quantity& quantity);

// The inverse: returns the quantity of an amount, in the format that Karmada writes for the
// resource (upstream's util.Resource.ResourceList): binary for memory, storage and huge pages.
Quantity ScheduledQuantity(absl::string_view name, int64_t amount);

}  // namespace kube

#endif  // KUBE_META_SCHEDULED_RESOURCES_H_
