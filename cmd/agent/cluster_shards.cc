// Everything is decided from a copy of the Leases, which may be old. That harms nobody: each write
// is made of the state that was seen, and the server refuses it when there is another one by then.
// What this replica holds it knows from the answers to its own writes; the copy can only take
// clusters from it, when somebody has declared it dead.
//
// Order of handing a cluster over: the replica that has it sees that another one is its owner now,
// leaves it out of what it may serve, and gives its Lease up when the agent has ended. The new
// owner sees a Lease without holder, and takes it.

#include "cmd/agent/cluster_shards.h"

#include <cstdint>
#include <utility>
#include <vector>

#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/strip.h"
#include "api/resources.h"
#include "base/log.h"
#include "base/random.h"
#include "base/status.h"
#include "kube/client/errors.h"

namespace cmd {
namespace {

constexpr absl::string_view kReplica = "karmada-agent-replica-";
constexpr absl::string_view kShard = "karmada-agent-shard-";
// How many clusters are taken before their agents begin.
constexpr int kTakenAtOnce = 50;

std::string LeaseOf(absl::string_view cluster) { return absl::StrCat(kShard, cluster); }

std::string HolderOf(const kube::Object& lease) {
  return std::string(lease.spec()["holderIdentity"].AsString());
}

// FNV-1a with 64 bits, mixed so that names which differ in the last letter only are far apart.
uint64_t WeightOf(absl::string_view cluster, absl::string_view replica) {
  uint64_t hash = 14695981039346656037u;
  for (const absl::string_view part : {replica, absl::string_view("/"), cluster}) {
    for (const char c : part) hash = (hash ^ static_cast<unsigned char>(c)) * 1099511628211u;
  }
  hash = (hash ^ (hash >> 33)) * 0xff51afd7ed558ccdu;
  hash = (hash ^ (hash >> 33)) * 0xc4ceb9fe1a85ec53u;
  return hash ^ (hash >> 33);
}

}  // namespace

std::string NewReplicaLease() { return absl::StrCat(kReplica, base::NewUuid()); }

std::string OwnerOf(absl::string_view cluster, const std::set<std::string>& replicas) {
  std::string owner;
  uint64_t highest = 0;
  for (const std::string& replica : replicas) {
    const uint64_t hash = WeightOf(cluster, replica);
    if (!owner.empty() && hash <= highest) continue;
    owner = replica;
    highest = hash;
  }
  return owner;
}

ClusterShards::ClusterShards(Place place, kube::Client& client, const base::Clock& clock,
                             kube::InformerSet& informers)
    : place_(std::move(place)), client_(client), clock_(clock), leases_([&] {
        kube::InformerOptions options;
        options.namespaces = {place_.ns};
        informers.SetDefaultOptions(api::Leases(), options);
        return informers.Get(api::Leases());
      }()) {}

absl::Status ClusterShards::WaitForSync(base::SteadyTime deadline, const base::StopToken& stop) {
  return leases_->WaitForSync(deadline, stop);
}

std::set<std::string> ClusterShards::Share(const std::set<std::string>& clusters,
                                           const std::set<std::string>& serving,
                                           const base::StopToken& stop) {
  LookAtReplicas(stop);
  std::set<std::string> mine;
  int taken = 0;
  for (const std::string& cluster : clusters) {
    if (OwnerOf(cluster, alive_) != place_.replica) continue;
    if (!held_.contains(cluster)) {
      if (taken == kTakenAtOnce || stop.stop_requested()) continue;
      const absl::Status result = Take(cluster, stop);
      Note(cluster, result);
      if (!held_.contains(cluster)) continue;
      ++taken;
    }
    mine.insert(cluster);
  }
  for (const kube::Object& lease : HeldLeases()) {
    const std::string cluster(absl::StripPrefix(lease.name(), kShard));
    if (mine.contains(cluster) || serving.contains(cluster)) continue;
    Note(cluster, GiveBack(cluster, lease, stop));
  }
  return mine;
}

std::vector<kube::Object> ClusterShards::HeldLeases() const {
  std::vector<kube::Object> leases;
  for (const auto& [cluster, lease] : held_) leases.push_back(lease);
  for (const kube::ObjectPtr& lease : leases_->store().List()) {
    const bool is_shard = absl::StartsWith(lease->name(), kShard);
    if (!is_shard || HolderOf(*lease) != place_.replica) continue;
    if (!held_.contains(std::string(absl::StripPrefix(lease->name(), kShard)))) {
      leases.push_back(*lease);
    }
  }
  return leases;
}

void ClusterShards::GiveAllBack(const base::StopToken& stop) {
  while (!held_.empty() && !stop.stop_requested()) {
    const std::string cluster = held_.begin()->first;
    base::IgnoreError(GiveBack(cluster, held_[cluster], stop),
                      "its holder will be seen to be gone");
    held_.erase(cluster);
  }
}

void ClusterShards::LookAtReplicas(const base::StopToken& stop) {
  const base::SteadyTime now = clock_.SteadyNow();
  alive_ = {place_.replica};
  std::set<std::string> present;
  for (const kube::ObjectPtr& lease : leases_->store().List()) {
    const std::string name(lease->name());
    if (absl::StartsWith(name, kShard)) {
      // Somebody has declared this replica dead, or a user has edited the Lease.
      const auto held = held_.find(std::string(absl::StripPrefix(name, kShard)));
      if (held != held_.end() && HolderOf(*lease) != place_.replica &&
          kube::ResourceVersionOf(*lease) > kube::ResourceVersionOf(held->second)) {
        held_.erase(held);
      }
      continue;
    }
    if (!absl::StartsWith(name, kReplica) || name == place_.replica) continue;
    present.insert(name);
    if (IsAlive(*lease, now)) {
      alive_.insert(name);
      continue;
    }
    kube::DeleteOptions as_seen;
    as_seen.uid = std::string(lease->uid());
    as_seen.resource_version = std::string(lease->resource_version());
    const absl::Status removed =
        client_.Delete(api::Leases(), lease->key(), as_seen, stop).status();
    if (removed.ok()) {
      dead_.insert(name);
      base::LogInfo("a replica is gone; its clusters are shared by the others",
                    {{"replica", name}});
    }
  }
  std::erase_if(seen_, [&present](const auto& one) { return !present.contains(one.first); });
}

bool ClusterShards::IsAlive(const kube::Object& lease, base::SteadyTime now) {
  if (HolderOf(lease).empty()) return false;  // It has given it up at its end.
  Seen& seen = seen_[std::string(lease.name())];
  if (seen.version != lease.resource_version()) {
    seen = {std::string(lease.resource_version()), now};
  }
  return now < seen.since + absl::Seconds(lease.spec()["leaseDurationSeconds"].AsInt());
}

bool ClusterShards::IsGone(const std::string& replica) {
  if (replica.empty() || dead_.contains(replica)) return true;
  if (!absl::StartsWith(replica, kReplica)) return true;  // Nothing that would act.
  if (leases_->store().Find({place_.ns, replica}) != nullptr) {
    missing_.erase(replica);
    return false;
  }
  // Removed by another replica, or by a user: it may not have noticed yet.
  const base::SteadyTime now = clock_.SteadyNow();
  const auto since = missing_.emplace(replica, now).first->second;
  return now >= since + place_.lease_duration;
}

absl::Status ClusterShards::Take(const std::string& cluster, const base::StopToken& stop) {
  const kube::ObjectKey key{place_.ns, LeaseOf(cluster)};
  const kube::ObjectPtr present = leases_->store().Find(key);
  if (present != nullptr && HolderOf(*present) != place_.replica && !IsGone(HolderOf(*present))) {
    return absl::OkStatus();
  }
  kube::Object claim = present != nullptr ? *present : kube::Object::Make(api::Leases().gvk, key);
  claim.Set({"spec", "holderIdentity"}, place_.replica);
  claim.Set({"spec", "acquireTime"}, kube::FormatMicroTime(clock_.Now()));
  const int64_t before = claim.spec()["leaseTransitions"].AsInt();
  claim.Set({"spec", "leaseTransitions"}, present == nullptr ? int64_t{0} : before + 1);
  absl::StatusOr<kube::Object> written = present == nullptr
                                             ? client_.Create(api::Leases(), claim, {}, stop)
                                             : client_.Replace(api::Leases(), claim, {}, stop);
  RETURN_IF_ERROR(written.status());
  held_[cluster] = *std::move(written);
  return absl::OkStatus();
}

absl::Status ClusterShards::GiveBack(const std::string& cluster, const kube::Object& lease,
                                     const base::StopToken& stop) {
  kube::Object free = lease;
  free.Erase({"spec", "holderIdentity"});
  const absl::Status written = client_.Replace(api::Leases(), free, {}, stop).status();
  // Otherwise it is tried again: until then nobody else has it.
  if (written.ok() || kube::IsConflict(written) || kube::IsGone(written)) held_.erase(cluster);
  return written;
}

void ClusterShards::Note(const std::string& cluster, const absl::Status& status) {
  const bool lost_race = kube::IsConflict(status) || kube::AlreadyExists(status);
  if (lost_race || status.code() == last_failure_) return;
  last_failure_ = status.code();
  if (status.ok()) return;
  base::LogWarning("the Lease of a cluster cannot be written",
                   {{"cluster", cluster}, {"error", status}});
}

}  // namespace cmd
