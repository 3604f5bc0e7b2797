#include "kube/meta/pod_request.h"

#include <algorithm>
#include <limits>

#include "kube/meta/scheduled_resources.h"

namespace kube {
namespace {

int64_t SaturatingAdd(int64_t a, int64_t b) {
  int64_t sum = 0;
  if (!__builtin_add_overflow(a, b, &sum)) return sum;
  return a > 0 ? std::numeric_limits<int64_t>::max() : std::numeric_limits<int64_t>::min();
}

}  // namespace

void PodRequest::AddContainer(const json::Member& resource, const Quantity& quantity) {
  int64_t& held = Held(resource);
  held = SaturatingAdd(held, ScheduledAmount(resource.name(), quantity));
}

void PodRequest::AddInitContainer(const json::Member& resource, const Quantity& quantity) {
  int64_t& held = Held(resource);
  held = std::max(held, ScheduledAmount(resource.name(), quantity));
}

void PodRequest::AddOverhead(const json::Member& resource, const Quantity& quantity) {
  AddContainer(resource, quantity);
}

int64_t& PodRequest::Held(const json::Member& resource) {
  for (Amount& amount : amounts_) {
    if (amount.name() == resource.name()) return amount.value;
  }
  amounts_.push_back({&resource, 0});
  return amounts_.back().value;
}

}  // namespace kube
