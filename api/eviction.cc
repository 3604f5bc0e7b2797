#include "api/eviction.h"

#include "absl/strings/str_cat.h"

namespace api {

absl::string_view CurrentPurgeMode(absl::string_view mode) {
  if (mode == kPurgeImmediately) return kPurgeDirectly;
  if (mode == kPurgeGraciously) return kPurgeGracefully;
  return mode;
}

void RenewPurgeMode(json::Value& object) {
  const absl::string_view mode = object["purgeMode"].AsString();
  const absl::string_view current = CurrentPurgeMode(mode);
  if (current != mode) object.Set("purgeMode", current);
}

absl::string_view OutdatedPurgeMode(const kube::Object& policy) {
  const absl::string_view mode =
      policy.Get({"spec", "failover", "application", "purgeMode"}).AsString();
  return CurrentPurgeMode(mode) == mode ? absl::string_view() : mode;
}

bool KeepsAway(const json::Value& task) { return task["message"].AsString() == kKeepsAwayMessage; }

}  // namespace api

namespace api::message {

std::string PurgeModeOutdated(absl::string_view mode) {
  return absl::StrCat(mode, " is refused by Karmada v1.19, use ", CurrentPurgeMode(mode));
}

std::string EvictedFromCluster(absl::string_view cluster) {
  return absl::StrCat("Evict from cluster ", cluster, " succeed.");
}

std::string NotEvictedFromCluster(absl::string_view cluster, const absl::Status& why) {
  return absl::StrCat("Evict from cluster ", cluster, " failed. ", why.message());
}

}  // namespace api::message
