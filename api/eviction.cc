#include "api/eviction.h"

#include "absl/strings/str_cat.h"

namespace api {

bool KeepsAway(const json::Value& task) { return task["message"].AsString() == kKeepsAwayMessage; }

}  // namespace api

namespace api::message {

std::string EvictedFromCluster(absl::string_view cluster) {
  return absl::StrCat("Evict from cluster ", cluster, " succeed.");
}

std::string NotEvictedFromCluster(absl::string_view cluster, const absl::Status& why) {
  return absl::StrCat("Evict from cluster ", cluster, " failed. ", why.message());
}

}  // namespace api::message
