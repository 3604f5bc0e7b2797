#include "search/opensearch/cluster_claims.h"

#include <algorithm>
#include <set>
#include <utility>
#include <vector>

#include "absl/strings/numbers.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "absl/strings/str_split.h"
#include "base/json.h"
#include "base/status.h"
#include "base/stop_flag.h"
#include "kube/client/kubeconfig.h"

namespace search {
namespace {

constexpr absl::Duration kAnswer = absl::Seconds(5);
// What a node says that has not joined its cluster yet.
constexpr absl::string_view kNotFormed = "_na_";

// "2.19.1" has flat_object, "2.6.0" has not.
bool HasFlatObject(absl::string_view version) {
  const std::vector<absl::string_view> parts = absl::StrSplit(version, '.');
  int major = 0;
  int minor = 0;
  if (!absl::SimpleAtoi(parts[0], &major)) return false;
  if (parts.size() > 1 && !absl::SimpleAtoi(parts[1], &minor)) return false;
  return major > 2 || (major == 2 && minor >= 7);
}

absl::Status CheckServer(const json::Value& version) {
  const absl::string_view distribution = version["distribution"].AsString();
  if (distribution == "opensearch" && HasFlatObject(version["number"].AsString())) return {};
  return absl::FailedPreconditionError(
      absl::StrCat("the server is ", distribution.empty() ? "not an OpenSearch" : distribution, " ",
                   version["number"].AsString(), "; the mirror needs OpenSearch 2.7 or newer"));
}

absl::StatusOr<std::string> ReadId(OpenSearchClient& client, size_t position,
                                   const base::StopToken& stop) {
  ASSIGN_OR_RETURN(const OpenSearchAnswer answer,
                   client.SendTo(position, {.path = "/", .timeout = kAnswer}, stop));
  RETURN_IF_ERROR(base::Annotate(StatusOf(answer), "GET /"));
  RETURN_IF_ERROR(CheckServer(answer.body["version"]));
  std::string id = answer.body["cluster_uuid"].ToString();
  if (id == kNotFormed) return absl::UnavailableError("the node has not joined a cluster yet");
  return id;
}

absl::Status CheckAgreement(const ClusterIds& found) {
  std::set<std::string> ids;
  std::vector<std::string> texts;
  for (const auto& [address, id] : found) {
    if (id.empty()) continue;
    ids.insert(id);
    texts.push_back(absl::StrCat(kube::WithoutUserInfo(address), " is ", id));
  }
  if (ids.size() <= 1) return absl::OkStatus();
  return absl::FailedPreconditionError(absl::StrCat(
      "the addresses lead to different OpenSearch clusters: ", absl::StrJoin(texts, ", ")));
}

}  // namespace

absl::StatusOr<ClusterIds> ReadClusterIds(OpenSearchClient& client, const base::StopToken& stop) {
  ClusterIds found;
  absl::Status error = absl::UnavailableError("there is no address");
  for (size_t i = 0; i < client.addresses().size(); ++i) {
    auto id = ReadId(client, i, stop);
    if (id.ok()) {
      found[client.addresses()[i]] = *std::move(id);
    } else if (absl::IsFailedPrecondition(id.status()) || absl::IsCancelled(id.status())) {
      return id.status();
    } else {
      error = id.status();
    }
  }
  if (found.empty()) return error;
  return found;
}

absl::Status ClusterClaims::Claim(int64_t mirror, const ClusterIds& found) {
  absl::MutexLock lock(&mu_);
  for (const auto& [address, id] : found) {
    std::string& known = by_address_[address];
    changed_ = changed_ || known != id;
    known = id;
  }
  RETURN_IF_ERROR(CheckAgreement(found));
  if (found.empty()) return absl::OkStatus();
  const auto named = std::find_if(found.begin(), found.end(),
                                  [](const auto& entry) { return !entry.second.empty(); });
  const std::string id = named == found.end() ? found.begin()->first : named->second;
  const bool taken = std::any_of(by_mirror_.begin(), by_mirror_.end(), [&](const auto& entry) {
    return entry.first != mirror && entry.second == id;
  });
  if (taken) {
    changed_ = true;
    return absl::UnavailableError(absl::StrCat(
        "another mirror still works on the same OpenSearch: ", kube::WithoutUserInfo(id)));
  }
  std::string& claim = by_mirror_[mirror];
  changed_ = changed_ || claim != id;
  claim = id;
  return absl::OkStatus();
}

void ClusterClaims::Release(int64_t mirror) {
  absl::MutexLock lock(&mu_);
  by_mirror_.erase(mirror);
}

bool ClusterClaims::HasClaim(int64_t mirror) const {
  absl::MutexLock lock(&mu_);
  return by_mirror_.contains(mirror);
}

std::string ClusterClaims::IdOf(const std::string& address) const {
  absl::MutexLock lock(&mu_);
  const auto found = by_address_.find(address);
  return found == by_address_.end() ? "" : found->second;
}

bool ClusterClaims::AwaitChange(const base::Clock& clock, base::SteadyTime deadline,
                                const base::StopToken& stop) {
  const base::StopFlag stopped(mu_, stop);
  absl::MutexLock lock(&mu_);
  const auto due = [&]() ABSL_NO_THREAD_SAFETY_ANALYSIS {
    return stopped.IsSet() || changed_ || woken_;
  };
  clock.AwaitUntil(mu_, absl::Condition(&due), deadline);
  woken_ = false;
  return std::exchange(changed_, false) && !stopped.IsSet();
}

void ClusterClaims::Wake() {
  absl::MutexLock lock(&mu_);
  woken_ = true;
}

}  // namespace search
