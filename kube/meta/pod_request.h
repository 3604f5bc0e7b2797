// The resources that one pod requests, added up as the scheduler does: for each resource the sum
// over the containers, or the largest request of an init container if that is more, plus the
// overhead.
//
// The caller walks through the pod, because callers differ in how they treat a quantity that cannot
// be read, and in what stands in for a missing request (nothing, or the limit).
#ifndef KUBE_META_POD_REQUEST_H_
#define KUBE_META_POD_REQUEST_H_

#include <cstdint>

#include "absl/container/inlined_vector.h"
#include "absl/strings/string_view.h"
#include "absl/types/span.h"
#include "base/json.h"
#include "kube/meta/quantity.h"

namespace kube {

// Amounts are those of ScheduledAmount; sums saturate. Not thread-safe.
class PodRequest {
 public:
  struct Amount {
    const json::Member* resource;  // The member that named the resource first.
    int64_t value = 0;
    absl::string_view name() const { return resource->name(); }
  };

  // `resource` is a member of a map of resources to quantities, and `quantity` its parsed value.
  // Call them in this order: for all containers, for all init containers, for the overhead.
  // REQUIRES: IsScheduledResource(resource.name()); the member outlives this object.
  void AddContainer(const json::Member& resource, const Quantity& quantity);
  void AddInitContainer(const json::Member& resource, const Quantity& quantity);
  void AddOverhead(const json::Member& resource, const Quantity& quantity);

  // One amount for each resource, in the order in which they were first named.
  absl::Span<const Amount> amounts() const { return amounts_; }

 private:
  int64_t& Held(const json::Member& resource);

  // A pod names few resources, for which a linear search is faster than a map.
  absl::InlinedVector<Amount, 8> amounts_;
};

}  // namespace kube

#endif  // KUBE_META_POD_REQUEST_H_
