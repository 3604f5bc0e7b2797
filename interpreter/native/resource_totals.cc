#include "interpreter/native/resource_totals.h"

#include <algorithm>
#include <cstdint>
#include <limits>
#include <utility>
#include <vector>

#include "absl/container/inlined_vector.h"
#include "absl/strings/str_cat.h"
#include "kube/meta/quantity.h"
#include "kube/meta/scheduled_resources.h"

namespace interpreter::native {

namespace {

using kube::Quantity;

// The amount of one resource: the member of the pod's map that named it first, and a number.
struct Amount {
  const json::Member* source;
  int64_t value = 0;
  absl::string_view name() const { return source->name(); }
};
// Pods name a handful of resources, so a linear search is faster than a map.
using Amounts = absl::InlinedVector<Amount, 8>;

absl::StatusOr<Quantity> QuantityOf(const json::Value& v) {
  if (v.is_string()) return Quantity::Parse(v.AsString());
  if (v.is_int()) return Quantity::FromInt(v.AsInt());
  if (v.is_null()) return Quantity();
  return Quantity::Parse(json::Write(v));
}

int64_t SaturatingAdd(int64_t a, int64_t b) {
  int64_t sum = 0;
  if (!__builtin_add_overflow(a, b, &sum)) return sum;
  return a > 0 ? std::numeric_limits<int64_t>::max() : std::numeric_limits<int64_t>::min();
}

int64_t& ValueOf(Amounts& amounts, const json::Member& resource) {
  for (Amount& amount : amounts) {
    if (amount.name() == resource.name()) return amount.value;
  }
  amounts.push_back({&resource, 0});
  return amounts.back().value;
}

// Combines the counted resources of the quantity map `map` into `into`, except those that `except`
// names.
template <class Combine>
void Fold(Fields& owner, absl::string_view map, const json::Value& except, Amounts& into,
          Combine combine) {
  for (const json::Member& resource : owner.Object(map).members()) {
    if (!kube::IsScheduledResource(resource.name()) || except.Has(resource.name())) continue;
    const absl::StatusOr<Quantity> quantity = QuantityOf(resource.value);
    if (!quantity.ok()) {
      owner.AddError(absl::StrCat(map, ".", resource.name()), quantity.status());
      return;
    }
    int64_t& held = ValueOf(into, resource);
    held = combine(held, kube::ScheduledAmount(resource.name(), *quantity));
  }
}

// Combines the containers' requests, and their limits where there is no request.
template <class Combine>
void FoldContainers(Fields& pod_spec, absl::string_view containers, Amounts& into,
                    Combine combine) {
  static const json::Value none;
  pod_spec.Each(containers, [&](Fields& container) {
    Fields resources = container.In("resources");
    if (resources.IsNull()) return;
    Fold(resources, "requests", none, into, combine);
    Fold(resources, "limits", resources.value()["requests"], into, combine);
  });
}

}  // namespace

json::Value RequestOfPod(Fields& pod_spec) {
  static const json::Value none;
  const auto larger = [](int64_t a, int64_t b) { return std::max(a, b); };
  Amounts amounts;
  FoldContainers(pod_spec, "containers", amounts, SaturatingAdd);
  FoldContainers(pod_spec, "initContainers", amounts, larger);
  Fold(pod_spec, "overhead", none, amounts, SaturatingAdd);
  std::vector<json::Member> request;
  request.reserve(amounts.size());
  for (const Amount& amount : amounts) {
    if (amount.value <= 0) continue;
    request.push_back(*amount.source);  // The copy shares the text of the name.
    request.back().value = kube::ScheduledQuantity(amount.name(), amount.value).ToString();
  }
  if (request.empty()) return nullptr;
  return json::Value::OfMembers(std::move(request));
}

}  // namespace interpreter::native
