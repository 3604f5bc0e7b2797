// Computes a binding's status from its Works: pure functions.
#ifndef CONTROLLERS_BINDING_STATUS_AGGREGATION_H_
#define CONTROLLERS_BINDING_STATUS_AGGREGATION_H_

#include <set>
#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "absl/types/span.h"
#include "api/binding.h"
#include "kube/meta/object.h"

namespace controllers {

// Returns one item per Work that is not being deleted, sorted by cluster (upstream's
// helper.AggregateResourceBindingWorkStatus). kNotFound "no such manifest exist" when a Work does
// not carry the template.
absl::StatusOr<std::vector<api::AggregatedStatusItem>> AggregateWorks(
    const api::ObjectReference& resource, absl::Span<const kube::ObjectPtr> works);

// Returns the FullyApplied condition: True when every expected cluster, and no other, has applied
// its Work.
kube::Condition FullyApplied(const std::set<std::string>& expected,
                             absl::Span<const api::AggregatedStatusItem> items);

// Returns whether the items are an outcome that is reported at once, rather than an intermediate
// step: every target has answered, and is healthy or could not be applied. `targets` are those of
// the binding that can answer. Clusters that are being evicted do not count: such a workload often
// stays unhealthy, and its eviction waits for the others.
bool IsSettled(absl::Span<const api::TargetCluster> targets,
               absl::Span<const api::AggregatedStatusItem> items);

// Returns the list, with what the items of `held`, which it replaces, have besides.
json::Value ItemsToJson(absl::Span<const api::AggregatedStatusItem> items,
                        const json::Value& held = {});

}  // namespace controllers

#endif  // CONTROLLERS_BINDING_STATUS_AGGREGATION_H_
