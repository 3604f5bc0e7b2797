// Handlers of the informers only note what has changed; the thread of Run reads the present state
// and reports it, so that any number of changes is one report, and none is lost.
//
// Members that were tried before their Secrets had been read have failed. As soon as all Secrets
// have been read, each member is therefore reported once more, and only then is this object synced:
// a server that says it is ready must not answer with errors of its own start.

#include "cmd/search/member_access.h"

#include <algorithm>
#include <utility>

#include "absl/strings/str_cat.h"
#include "api/cluster.h"
#include "api/members/connection.h"
#include "base/stop_flag.h"

namespace cmd {
namespace {

constexpr absl::Duration kSyncRound = absl::Milliseconds(50);

// Returns the Secrets that a Cluster names: with the token for caches, and for requests of users.
std::set<kube::ObjectKey> SecretsOf(const kube::Object& cluster) {
  const api::ClusterView view(cluster);
  std::set<kube::ObjectKey> keys;
  for (const kube::ObjectKey& key : {view.SecretRef(), view.ImpersonatorSecretRef()}) {
    if (!key.name.empty()) keys.insert(key);
  }
  return keys;
}

}  // namespace

MemberAccess::MemberAccess(const Parts& parts)
    : parts_(parts),
      secrets_(parts.client, parts.threads, parts.clock, [this](const kube::ObjectKey& key) {
        absl::MutexLock lock(&mu_);
        work_.secrets.insert(key);
      }) {
  handler_ = parts_.clusters.AddHandler(
      {.on_add = [this](const kube::ObjectPtr& object, bool) { NoteCluster(nullptr, object); },
       .on_update = [this](const kube::ObjectPtr& before,
                           const kube::ObjectPtr& after) { NoteCluster(before, after); },
       .on_delete = [this](const kube::ObjectPtr& last) { NoteCluster(last, nullptr); }});
}

MemberAccess::~MemberAccess() { parts_.clusters.RemoveHandler(handler_); }

void MemberAccess::NoteCluster(const kube::ObjectPtr& before, const kube::ObjectPtr& after) {
  const kube::Object& object = after != nullptr ? *after : *before;
  // The status changes all the time, and does not count here.
  if (before != nullptr && after != nullptr && before->spec() == after->spec()) return;
  absl::MutexLock lock(&mu_);
  work_.references = true;
  work_.clusters.emplace(object.name());
}

void MemberAccess::SetOtherSecrets(std::set<kube::ObjectKey> keys) {
  absl::MutexLock lock(&mu_);
  // The scope changes often, the Secrets that it names seldom.
  if (others_ == keys) return;
  others_ = std::move(keys);
  work_.references = true;
}

kube::ObjectPtr MemberAccess::ClusterOf(const std::string& name) const {
  return parts_.clusters.store().Find({"", name});
}

bool MemberAccess::IsOfMember(const kube::ObjectKey& secret) const {
  const auto clusters = parts_.clusters.store().List();
  return std::any_of(clusters.begin(), clusters.end(), [&](const kube::ObjectPtr& cluster) {
    return SecretsOf(*cluster).contains(secret);
  });
}

absl::StatusOr<kube::ConnectionConfig> MemberAccess::ConfigOf(const kube::Object& cluster) const {
  return members::ConnectionOf(cluster,
                               [this](const kube::ObjectKey& key) { return secrets_.Find(key); });
}

absl::StatusOr<kube::ConnectionConfig> MemberAccess::ConfigFor(const std::string& cluster) {
  const kube::ObjectPtr object = ClusterOf(cluster);
  if (object == nullptr) {
    return absl::NotFoundError(absl::StrCat("cluster ", cluster, " not found"));
  }
  return ConfigOf(*object);
}

bool MemberAccess::HasSynced() const {
  absl::MutexLock lock(&mu_);
  return has_synced_;
}

MemberAccess::Work MemberAccess::Take(const base::StopToken& stop) {
  const base::StopFlag stopped(mu_, stop);
  absl::MutexLock lock(&mu_);
  const auto ready = [&]() ABSL_EXCLUSIVE_LOCKS_REQUIRED(mu_) {
    return stopped.IsSet() || !work_.empty();
  };
  // Nothing wakes this thread when the last Secrets have been read.
  const base::SteadyTime until =
      has_synced_ ? base::SteadyTime::InfiniteFuture() : parts_.clock.SteadyNow() + kSyncRound;
  parts_.clock.AwaitUntil(mu_, absl::Condition(&ready), until);
  return std::exchange(work_, {});
}

void MemberAccess::UpdateReferences() {
  std::set<kube::ObjectKey> keys;
  for (const kube::ObjectPtr& cluster : parts_.clusters.store().List()) {
    keys.merge(SecretsOf(*cluster));
  }
  {
    absl::MutexLock lock(&mu_);
    keys.insert(others_.begin(), others_.end());
  }
  secrets_.SetReferences(keys);
}

void MemberAccess::ReportFirst(const Callbacks& callbacks) {
  Work all;
  for (const kube::ObjectPtr& cluster : parts_.clusters.store().List()) {
    all.clusters.emplace(cluster->name());
  }
  Report(all, callbacks);
  absl::MutexLock lock(&mu_);
  has_synced_ = true;
}

void MemberAccess::Report(const Work& work, const Callbacks& callbacks) const {
  std::set<std::string> changed = work.clusters;
  if (!work.secrets.empty()) {
    for (const kube::ObjectPtr& cluster : parts_.clusters.store().List()) {
      for (const kube::ObjectKey& key : SecretsOf(*cluster)) {
        if (work.secrets.contains(key)) changed.emplace(cluster->name());
      }
    }
  }
  for (const std::string& name : changed) {
    // The present state counts: a Cluster that was removed and added again meanwhile has changed.
    (ClusterOf(name) == nullptr ? callbacks.left : callbacks.changed)(name);
  }
  std::set<kube::ObjectKey> others;
  {
    absl::MutexLock lock(&mu_);
    others = others_;
  }
  for (const kube::ObjectKey& key : work.secrets) {
    if (others.contains(key)) callbacks.other_secret(key);
  }
}

void MemberAccess::Run(const Callbacks& callbacks, const base::StopToken& stop) {
  while (!parts_.clusters.HasSynced()) {
    if (!parts_.clock.SleepFor(kSyncRound, stop)) return;
  }
  UpdateReferences();
  while (!stop.stop_requested()) {
    const Work work = Take(stop);
    if (stop.stop_requested()) return;
    if (work.references) UpdateReferences();
    Report(work, callbacks);
    if (!HasSynced() && secrets_.HasSynced()) ReportFirst(callbacks);
  }
}

}  // namespace cmd
