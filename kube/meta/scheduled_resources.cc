#include "kube/meta/scheduled_resources.h"

#include "absl/strings/match.h"

namespace kube {
namespace {

bool IsHugePages(absl::string_view name) { return absl::StartsWith(name, "hugepages-"); }

}  // namespace

bool IsScheduledResource(absl::string_view name) {
  if (name == "cpu" || name == "memory" || name == "ephemeral-storage" || name == "pods") {
    return true;
  }
  if (absl::StrContains(name, "kubernetes.io/")) return true;
  // requests.example.com/x is the name under which quotas count example.com/x.
  if (absl::StrContains(name, '/')) return !absl::StartsWith(name, "requests.");
  return IsHugePages(name) || absl::StartsWith(name, "attachable-volumes-");
}

int64_t ScheduledAmount(absl::string_view name, const Quantity& quantity) {
  return name == "cpu" ? quantity.MilliValue() : quantity.Value();
}

Quantity ScheduledQuantity(absl::string_view name, int64_t amount) {
  if (name == "cpu") return Quantity::FromMilli(amount);
  const bool binary = name == "memory" || name == "ephemeral-storage" || IsHugePages(name);
  return Quantity::FromInt(amount,
                           binary ? Quantity::Format::kBinarySI : Quantity::Format::kDecimalSI);
}

}  // namespace kube
