#include "api/resource_list.h"

#include <utility>

#include "absl/strings/str_cat.h"
#include "base/status.h"

namespace api {
namespace {

// The schema permits a quantity to be an integer.
absl::StatusOr<kube::Quantity> ParseAmount(const json::Value& value) {
  if (value.is_int()) return kube::Quantity::FromInt(value.AsInt());
  return kube::Quantity::Parse(value.AsString());
}

// Doubling keeps the number of additions small.
kube::Quantity Multiplied(kube::Quantity amount, int64_t times) {
  kube::Quantity sum = kube::Quantity().WithFormat(amount.format());
  for (; times > 0; times /= 2) {
    if (times % 2 == 1) sum.Add(amount);
    const kube::Quantity same = amount;
    amount.Add(same);
  }
  return sum;
}

}  // namespace

absl::StatusOr<ResourceList> ResourceList::FromJson(const json::Value& list) {
  ResourceList out;
  for (const json::Member& member : list.members()) {
    absl::StatusOr<kube::Quantity> amount = ParseAmount(member.value);
    if (!amount.ok()) {
      return absl::InvalidArgumentError(
          absl::StrCat(member.name(), ": ", amount.status().message()));
    }
    out.amounts_.emplace(member.name(), *std::move(amount));
  }
  return out;
}

absl::StatusOr<ResourceList> ResourceList::FromLimits(const json::Value& list) {
  ASSIGN_OR_RETURN(ResourceList out, FromJson(list));
  for (const auto& [name, amount] : out.amounts_) {
    if (amount.Sign() >= 0) continue;
    return absl::InvalidArgumentError(absl::StrCat(name, ": ", amount.ToString(), " is negative"));
  }
  return out;
}

void ResourceList::Add(const ResourceList& other, int64_t times) {
  for (const auto& [name, amount] : other.amounts_) {
    amounts_[name].Add(Multiplied(amount, times));
  }
}

void ResourceList::KeepOnly(const json::Value& names) {
  std::erase_if(amounts_, [&](const auto& entry) { return !names.Has(entry.first); });
}

void ResourceList::DropZeros() {
  std::erase_if(amounts_, [](const auto& entry) { return entry.second.IsZero(); });
}

json::Value ResourceList::ToJson(const json::Value& held) const {
  if (empty()) return {};
  json::Value out = json::Value::Object();
  for (const auto& [name, amount] : amounts_) {
    const json::Value& old = held[name];
    const absl::StatusOr<kube::Quantity> before = ParseAmount(old);
    const bool same = !old.is_null() && before.ok() && *before == amount;
    out.Set(name, same ? old : json::Value(amount.ToString()));
  }
  return out;
}

}  // namespace api
