// A mirror first asks each address who it is (LookAtClusters: version and cluster_uuid of GET /),
// then claims the cluster that it has found. Claim notes all that was found, chooses the cluster of
// the first known address in the mirror's order, refuses it when another mirror of this process has
// it, and grants the addresses that lead there. Every call that learns something wakes AwaitChange,
// by which the set of mirrors groups its targets again.
//
// All claims are memory of this process. After a restart each mirror looks and claims again before
// it writes; that another process (a replica) mirrors into the same OpenSearch does no harm,
// because the documents' versions decide (document_version.h).

#include "search/opensearch/cluster_claims.h"

#include <algorithm>
#include <utility>
#include <vector>

#include "absl/strings/numbers.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_split.h"
#include "base/cut_text.h"
#include "base/json.h"
#include "base/status.h"
#include "base/stop_flag.h"
#include "kube/kubeconfig/kubeconfig.h"

namespace search {
namespace {

// One address that does not answer must not hold up the look at the others for long.
constexpr absl::Duration kAnswer = absl::Seconds(5);
constexpr size_t kMaxVersion = 40;
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

// The error is shown to whoever reads registries. It repeats nothing that another server than an
// OpenSearch says: an author of registries may name any server that this program reaches.
absl::Status CheckServer(const json::Value& version) {
  const absl::string_view number = version["number"].AsString();
  const bool is_opensearch = version["distribution"].AsString() == "opensearch";
  if (is_opensearch && HasFlatObject(number)) return {};
  const std::string what = is_opensearch
                               ? absl::StrCat("OpenSearch ", base::CutText(number, kMaxVersion))
                               : "not an OpenSearch";
  return absl::FailedPreconditionError(
      absl::StrCat("the server is ", what, "; the mirror needs OpenSearch 2.7 or newer"));
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

}  // namespace

absl::StatusOr<ClusterLook> LookAtClusters(OpenSearchClient& client,
                                           const std::vector<size_t>& positions,
                                           const base::StopToken& stop) {
  ClusterLook look;
  absl::Status error = absl::UnavailableError("there is no address");
  for (const size_t position : positions) {
    const std::string& address = client.addresses()[position];
    auto id = ReadId(client, position, stop);
    if (absl::IsCancelled(id.status())) return id.status();
    if (id.ok()) {
      look.ids[address] = *std::move(id);
      continue;
    }
    if (absl::IsFailedPrecondition(id.status())) {
      look.unfit[address] = std::string(id.status().message());
    }
    error = id.status();
  }
  if (look.ids.empty()) return error;
  return look;
}

std::string ClusterClaims::FirstKnown(const std::vector<std::string>& addresses) const {
  for (const std::string& address : addresses) {
    const auto known = by_address_.find(address);
    if (known != by_address_.end() && !known->second.empty()) return known->second;
  }
  return "";
}

absl::StatusOr<ClusterGrant> ClusterClaims::Claim(int64_t mirror,
                                                  const std::vector<std::string>& addresses,
                                                  const ClusterIds& found) {
  absl::MutexLock lock(&mu_);
  for (const auto& [address, id] : found) {
    std::string& known = by_address_[address];
    changed_ = changed_ || known != id;
    known = id;
  }
  ClusterGrant grant{.cluster_uuid = FirstKnown(addresses)};
  // Where the uuid is hidden, only equal addresses count as equal.
  const std::string id = grant.cluster_uuid.empty() ? addresses.front() : grant.cluster_uuid;
  const bool taken = std::any_of(by_mirror_.begin(), by_mirror_.end(), [&](const auto& entry) {
    return entry.first != mirror && entry.second == id;
  });
  if (taken) {
    changed_ = true;
    return absl::UnavailableError(absl::StrCat(
        "another mirror still works on the same OpenSearch: ", kube::WithoutUserInfo(id)));
  }
  // A mirror whose addresses lead to another cluster than before gives its earlier claim up by
  // this.
  std::string& claim = by_mirror_[mirror];
  changed_ = changed_ || claim != id;
  claim = id;
  for (const auto& [address, where] : found) {
    // Where a gateway hides the uuid there is nothing to compare, and the address is believed.
    if (where.empty() || where == grant.cluster_uuid) grant.addresses.insert(address);
  }
  return grant;
}

void ClusterClaims::Release(int64_t mirror) {
  absl::MutexLock lock(&mu_);
  by_mirror_.erase(mirror);
}

bool ClusterClaims::HasClaim(int64_t mirror) const {
  absl::MutexLock lock(&mu_);
  return by_mirror_.contains(mirror);
}

std::string ClusterClaims::ClusterOf(const std::vector<std::string>& addresses) const {
  absl::MutexLock lock(&mu_);
  return FirstKnown(addresses);
}

bool ClusterClaims::AwaitChange(const base::Clock& clock, base::SteadyTime deadline,
                                const base::StopToken& stop) {
  const base::StopFlag stopped(mu_, stop);
  absl::MutexLock lock(&mu_);
  // Both flags stay set until a call takes them, so that nothing is missed between two calls.
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
