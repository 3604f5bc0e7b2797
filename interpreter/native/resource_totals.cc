#include "interpreter/native/resource_totals.h"

#include <algorithm>
#include <cstdint>
#include <limits>
#include <utility>
#include <vector>

#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "base/status.h"
#include "kube/meta/quantity.h"

namespace interpreter::native {

namespace {

using kube::Quantity;

// One resource and how much of it. Names are views into the pod.
struct Amount {
  absl::string_view name;
  int64_t value = 0;
};
// A handful of resources: a linear search beats any map.
using Amounts = std::vector<Amount>;

bool IsHugePages(absl::string_view name) { return absl::StartsWith(name, "hugepages-"); }

bool IsCounted(absl::string_view name) {
  if (name == "cpu" || name == "memory" || name == "ephemeral-storage" || name == "pods") {
    return true;
  }
  if (absl::StrContains(name, "kubernetes.io/")) return true;
  if (absl::StrContains(name, '/')) return !absl::StartsWith(name, "requests.");
  return IsHugePages(name) || absl::StartsWith(name, "attachable-volumes-");
}

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

int64_t& ValueOf(Amounts& amounts, absl::string_view name) {
  const auto it = std::find_if(amounts.begin(), amounts.end(),
                               [&](const Amount& amount) { return amount.name == name; });
  if (it != amounts.end()) return it->value;
  amounts.push_back({name, 0});
  return amounts.back().value;
}

// Adds the counted resources of a quantity map.
template <class Combine>
absl::Status Fold(const json::Value& quantities, const json::Value& except, Amounts& into,
                  Combine combine) {
  for (const json::Member& member : quantities.members()) {
    if (!IsCounted(member.name()) || except.Has(member.name())) continue;
    ASSIGN_OR_RETURN(const Quantity quantity, QuantityOf(member.value));
    int64_t& held = ValueOf(into, member.name());
    held = combine(held, member.name() == "cpu" ? quantity.MilliValue() : quantity.Value());
  }
  return absl::OkStatus();
}

// Requests, and limits where there is no request.
template <class Combine>
absl::Status FoldContainers(const json::Value& containers, Amounts& into, Combine combine) {
  static const json::Value none;
  for (const json::Value& container : containers.items()) {
    const json::Value& resources = container["resources"];
    const json::Value& requests = resources["requests"];
    RETURN_IF_ERROR(Fold(requests, none, into, combine));
    RETURN_IF_ERROR(Fold(resources["limits"], requests, into, combine));
  }
  return absl::OkStatus();
}

std::string TextOf(const Amount& amount) {
  if (amount.name == "cpu") return Quantity::FromMilli(amount.value).ToString();
  const bool binary =
      amount.name == "memory" || amount.name == "ephemeral-storage" || IsHugePages(amount.name);
  const auto format = binary ? Quantity::Format::kBinarySI : Quantity::Format::kDecimalSI;
  return Quantity::FromInt(amount.value, format).ToString();
}

}  // namespace

absl::StatusOr<json::Value> RequestOfPod(const json::Value& pod_spec) {
  static const json::Value none;
  const auto larger = [](int64_t a, int64_t b) { return std::max(a, b); };
  Amounts amounts;
  RETURN_IF_ERROR(FoldContainers(pod_spec["containers"], amounts, SaturatingAdd));
  RETURN_IF_ERROR(FoldContainers(pod_spec["initContainers"], amounts, larger));
  RETURN_IF_ERROR(Fold(pod_spec["overhead"], none, amounts, SaturatingAdd));
  json::Value request;
  for (const Amount& amount : amounts) {
    if (amount.value > 0) request.Set(amount.name, TextOf(amount));
  }
  return request;
}

}  // namespace interpreter::native
