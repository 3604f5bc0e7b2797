#include "interpreter/native/resource_totals.h"

#include <utility>
#include <vector>

#include "absl/strings/str_cat.h"
#include "kube/meta/pod_request.h"
#include "kube/meta/quantity.h"
#include "kube/meta/scheduled_resources.h"

namespace interpreter::native {

namespace {

using kube::Quantity;

// Calls `count` with the counted resources of the quantity map in that member.
template <class Count>
void ForEachScheduled(Fields& owner, absl::string_view map, const json::Value& except,
                      Count count) {
  for (const json::Member& resource : owner.Object(map).members()) {
    if (!kube::IsScheduledResource(resource.name()) || except.Has(resource.name())) continue;
    const absl::StatusOr<Quantity> quantity = Quantity::FromJson(resource.value);
    if (!quantity.ok()) {
      owner.AddError(absl::StrCat(map, ".", resource.name()), quantity.status());
      return;
    }
    count(resource, *quantity);
  }
}

// Calls `count` with the requests, and with the limits of resources that have no request.
template <class Count>
void ForEachRequest(Fields& pod_spec, absl::string_view containers, Count count) {
  static const json::Value none;
  pod_spec.Each(containers, [&](Fields& container) {
    Fields resources = container.In("resources");
    if (resources.IsNull()) return;
    ForEachScheduled(resources, "requests", none, count);
    ForEachScheduled(resources, "limits", resources.value()["requests"], count);
  });
}

}  // namespace

json::Value RequestOfPod(Fields& pod_spec) {
  static const json::Value none;
  kube::PodRequest sums;
  ForEachRequest(pod_spec, "containers",
                 [&](const auto& m, const auto& q) { sums.AddContainer(m, q); });
  ForEachRequest(pod_spec, "initContainers",
                 [&](const auto& m, const auto& q) { sums.AddInitContainer(m, q); });
  ForEachScheduled(pod_spec, "overhead", none,
                   [&](const auto& m, const auto& q) { sums.AddOverhead(m, q); });
  std::vector<json::Member> request;
  request.reserve(sums.amounts().size());
  for (const kube::PodRequest::Amount& amount : sums.amounts()) {
    if (amount.value <= 0) continue;
    request.push_back(*amount.resource);  // Shares the text of the name.
    request.back().value = kube::ScheduledQuantity(amount.name(), amount.value).ToString();
  }
  if (request.empty()) return nullptr;
  return json::Value::OfMembers(std::move(request));
}

}  // namespace interpreter::native
