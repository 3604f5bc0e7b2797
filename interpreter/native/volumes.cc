// PersistentVolume, PersistentVolumeClaim.

#include <algorithm>
#include <utility>

#include "absl/strings/str_cat.h"
#include "base/status.h"
#include "interpreter/native/handler_table.h"
#include "interpreter/native/typed_fields.h"

namespace interpreter::native {

namespace {

// Others write into the spec of a PersistentVolumeClaim in a member:
//   volumeName         the controller that binds volumes
//   storageClassName   the admission of default classes, or that controller later, where the claim
//                      has none
// Neither can be taken away.
absl::StatusOr<kube::Object> RetainClaim(const kube::Object& desired,
                                         const kube::Object& observed) {
  Fields spec(observed.spec(), "spec");
  const absl::string_view volume = spec.String("volumeName");
  RETURN_IF_ERROR(spec.error());
  if (volume.empty() && observed.spec()["storageClassName"].is_null()) return desired;
  RETURN_IF_ERROR(json::FindObject(desired.root(), {"spec"}).status());
  kube::Object retained = desired;
  if (!volume.empty()) retained.Set({"spec", "volumeName"}, volume);
  RetainFilledIn(observed, "storageClassName", retained);
  return retained;
}

// Others write into the spec of a PersistentVolume in a member:
//   claimRef   the controller that binds volumes
absl::StatusOr<kube::Object> RetainVolume(const kube::Object& desired,
                                          const kube::Object& observed) {
  ASSIGN_OR_RETURN(const json::Value* claim,
                   json::FindObject(observed.root(), {"spec", "claimRef"}));
  if (claim == nullptr) return desired;
  RETURN_IF_ERROR(json::FindObject(desired.root(), {"spec"}).status());
  kube::Object retained = desired;
  retained.Set({"spec", "claimRef"}, *claim);
  return retained;
}

// Returns the object with a status that has only this phase.
kube::Object WithPhase(const kube::Object& object, absl::string_view phase) {
  json::Value status = json::Value::Object();
  if (!phase.empty()) status.Set("phase", phase);
  if (SameTyped(status, object.status())) return object;
  kube::Object out = object;
  out.Set({"status"}, std::move(status));
  return out;
}

absl::StatusOr<kube::Object> AggregateVolume(const kube::Object& object,
                                             const AggregatedItems& items, absl::Time) {
  // The first of these phases wins; unknown phases are ignored.
  static constexpr absl::string_view kPhases[] = {"Failed", "Pending", "Available", "Bound",
                                                  "Released"};
  const absl::string_view* best = std::end(kPhases);
  for (const json::Value& item : items.items()) {
    Fields status(item["status"], "status");
    const absl::string_view phase =
        item["status"].is_null() ? absl::string_view("Pending") : status.String("phase");
    RETURN_IF_ERROR(base::Annotate(status.error(), "cluster ", item["clusterName"].AsString()));
    best = std::min(best, std::find(std::begin(kPhases), std::end(kPhases), phase));
  }
  return WithPhase(object, best == std::end(kPhases) ? absl::string_view() : *best);
}

absl::StatusOr<kube::Object> AggregateClaim(const kube::Object& object,
                                            const AggregatedItems& items, absl::Time) {
  absl::string_view phase = "Bound";
  for (const json::Value& item : items.items()) {
    if (item["status"].is_null()) continue;
    Fields status(item["status"], "status");
    const absl::string_view member = status.String("phase");
    RETURN_IF_ERROR(base::Annotate(status.error(), "cluster ", item["clusterName"].AsString()));
    if (member != "Bound") phase = member;
    if (member == "Lost") break;
  }
  return WithPhase(object, phase);
}

absl::StatusOr<Health> ClaimHealth(const kube::Object& object) {
  Fields status(object.status(), "status");
  const absl::string_view phase = status.String("phase");
  RETURN_IF_ERROR(status.error());
  if (phase == "Bound") return true;
  return Health(false, absl::StrCat("the claim is ", phase.empty() ? "not bound yet" : phase));
}

}  // namespace

void RegisterVolumes(HandlerTable& table) {
  table.Add({"", "v1", "PersistentVolume"},
            {.retain = RetainVolume, .aggregate_status = AggregateVolume});
  table.Add(
      {"", "v1", "PersistentVolumeClaim"},
      {.retain = RetainClaim, .aggregate_status = AggregateClaim, .interpret_health = ClaimHealth});
}

}  // namespace interpreter::native
