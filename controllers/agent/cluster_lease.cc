// A look finds the Cluster in the cache. Once it has been ready, each look renews the Lease: the
// state that was written last, with a new time, and with the version of this agent; when somebody
// else has changed or deleted that, what is stored. Whatever is lost on the way, the next look
// writes it again.

#include "controllers/agent/cluster_lease.h"

#include <utility>

#include "absl/strings/str_cat.h"
#include "api/agent_version.h"
#include "api/cluster.h"
#include "api/keys.h"
#include "api/resources.h"
#include "base/clock.h"
#include "base/json.h"
#include "base/log.h"
#include "base/random.h"
#include "base/status.h"
#include "kube/client/errors.h"

namespace controllers {
namespace {

// As upstream, so that the agents of many clusters do not renew at the same moment.
constexpr double kJitterFactor = 0.04;
// How often it is looked whether the Cluster is ready for the first time.
constexpr absl::Duration kBeforeFirst = absl::Seconds(1);
// How many renewals by others, one after the other, are a second agent's.
constexpr int kForeign = 2;

json::Value OwnersFor(const kube::Object& cluster) {
  kube::OwnerRef owner;
  owner.api_version = api::Clusters().gvk.ApiVersion();
  owner.kind = api::Clusters().gvk.kind;
  owner.name = std::string(cluster.name());
  owner.uid = std::string(cluster.uid());
  return json::Value::Array({owner.ToJson()});
}

}  // namespace

ClusterLease::ClusterLease(ClusterLeaseOptions options, kube::Manager& manager,
                           kube::Client& leases)
    : Periodic(manager.clock()),
      options_(std::move(options)),
      manager_(manager),
      leases_(leases),
      clusters_(manager.cluster().informers().Get(api::Clusters())) {}

absl::Duration ClusterLease::Tick(const base::StopToken& stop) {
  Look(stop);
  return Pause();
}

void ClusterLease::Look(const base::StopToken& stop) {
  const kube::ObjectPtr cluster = clusters_->store().Find({"", options_.cluster});
  if (cluster == nullptr) {
    has_begun_ = false;
    held_ = kube::Object();
    return;
  }
  has_begun_ = has_begun_ || api::ClusterView(*cluster).IsReady();
  if (!has_begun_) return;
  const absl::Status renewed = Renew(*cluster, stop);
  if (renewed.ok() || stop.stop_requested()) return;
  held_ = kube::Object();
  const auto verdict = failures_.Note(renewed.ToString(), manager_.clock().SteadyNow());
  if (!verdict.log) return;
  const std::string more = verdict.More();
  base::LogWarning(
      absl::StrCat("the Lease of the cluster could not be renewed", more.empty() ? "" : ", ", more),
      {{"cluster", options_.cluster}, {"error", renewed}});
}

absl::Duration ClusterLease::Pause() const {
  if (!has_begun_) return kBeforeFirst;
  return base::Jitter(options_.duration * options_.renew_fraction, kJitterFactor);
}

absl::Status ClusterLease::Renew(const kube::Object& cluster, const base::StopToken& stop) {
  if (!held_.empty()) {
    const absl::Status written = Write(held_, cluster, stop);
    // Somebody has changed or deleted it: the next lines look.
    if (!kube::IsConflict(written) && !kube::IsGone(written)) {
      if (written.ok()) foreign_ = 0;
      return written;
    }
  }
  absl::StatusOr<kube::Object> found =
      leases_.Get(api::Leases(), {api::kClusterNamespace, options_.cluster}, stop);
  if (!found.ok() && !kube::IsGone(found.status())) return found.status();
  if (found.ok() && !held_.empty()) NoteOthers(*found);
  return Write(found.ok() ? *found : kube::Object(), cluster, stop);
}

void ClusterLease::NoteOthers(const kube::Object& found) {
  if (found.spec()["renewTime"].AsString() == held_.spec()["renewTime"].AsString()) return;
  // One may be the last renewal of a process that this one takes the place of.
  if (++foreign_ < kForeign || std::exchange(is_told_, true)) return;
  base::LogWarning(
      "another process renews the Lease of the cluster, too: the cluster has two agents, which "
      "both "
      "apply to it; end one of them",
      {{"cluster", options_.cluster}, {"lease", found.key().ToString()}});
}

absl::Status ClusterLease::Write(const kube::Object& before, const kube::Object& cluster,
                                 const base::StopToken& stop) {
  const bool is_new = before.empty();
  kube::Object lease = before;
  if (is_new) {
    lease = kube::Object::Make(api::Leases().gvk, {api::kClusterNamespace, options_.cluster});
    lease.Set({"spec", "holderIdentity"}, options_.cluster);
    lease.Set({"spec", "leaseDurationSeconds"}, absl::ToInt64Seconds(options_.duration));
  }
  lease.Set({"spec", "renewTime"}, kube::FormatMicroTime(manager_.clock().Now()));
  if (!options_.version.empty()) api::SetAgentVersion(lease, options_.version);
  if (lease.OwnerRefs().empty()) lease.Set({"metadata", "ownerReferences"}, OwnersFor(cluster));
  absl::StatusOr<kube::Object> written = is_new ? leases_.Create(api::Leases(), lease, {}, stop)
                                                : leases_.Replace(api::Leases(), lease, {}, stop);
  RETURN_IF_ERROR(written.status());
  held_ = *std::move(written);
  return absl::OkStatus();
}

}  // namespace controllers
