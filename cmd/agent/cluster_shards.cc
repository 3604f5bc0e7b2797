// Everything is decided from a copy of the Leases, which may be old. That harms nobody: each write
// is made of the state that was seen, and the server refuses it when there is another one by then.
// What this process holds it knows from the answers to its own writes; the copy can only take
// clusters from it, when somebody has declared it dead. The Lease of a cluster that somebody has
// removed while it was held is made again.
//
// Order of handing a cluster over: the process that has it sees that another one is its owner now,
// leaves it out of what it may serve, and gives its Lease up when the agent has ended. The new
// owner sees a Lease without holder, and takes it.
//
// The name of a replica's Lease is never used again. That of a fleet is, by the next process that
// is elected: it writes the Leases of clusters that name it once more before it acts, as others may
// have found them free meanwhile. The Lease itself, if they have removed it, then has another uid.

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
#include "kube/runtime/fan_out.h"

namespace cmd {
namespace {

constexpr absl::string_view kReplica = "karmada-agent-replica-";
constexpr absl::string_view kFleet = "karmada-agent-fleet-";
constexpr absl::string_view kShard = "karmada-agent-shard-";
// At the Lease of a replica that ends.
constexpr absl::string_view kLeaves = "karmada-agent/leaves";
constexpr int kTriesToLeave = 3;
// How many clusters are taken before their agents begin.
constexpr int kTakenAtOnce = 50;
// How many writes are under way at the end of the process, which has only some seconds.
constexpr int kFreedAtOnce = 15;

std::string LeaseOf(absl::string_view cluster) { return absl::StrCat(kShard, cluster); }

std::string ClusterOf(const kube::Object& lease) {
  return std::string(absl::StripPrefix(lease.name(), kShard));
}

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

// Two texts for the same labels are two fleets, which harms nobody.
std::string FleetOf(absl::string_view selector) {
  return absl::StrCat(absl::Hex(WeightOf(selector, "") >> 32, absl::kZeroPad8));
}

bool IsOfProcess(absl::string_view lease) {
  return absl::StartsWith(lease, kReplica) || absl::StartsWith(lease, kFleet);
}

// How the names begin of all replicas that have the same selector as that of this name; the name
// itself where nothing is shared.
std::string PeersOf(const std::string& lease) {
  if (!absl::StartsWith(lease, kReplica)) return lease;
  return lease.substr(0, lease.find('-', kReplica.size()) + 1);
}

kube::DeleteOptions AsSeen(const kube::Object& lease) {
  kube::DeleteOptions as_seen;
  as_seen.uid = std::string(lease.uid());
  as_seen.resource_version = std::string(lease.resource_version());
  return as_seen;
}

}  // namespace

std::string NewReplicaLease(absl::string_view selector) {
  return absl::StrCat(kReplica, FleetOf(selector), "-", base::NewUuid());
}

std::string FleetLease(absl::string_view selector) {
  return absl::StrCat(kFleet, FleetOf(selector));
}

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
    : place_(std::move(place)),
      peers_(PeersOf(place_.lease)),
      client_(client),
      clock_(clock),
      leases_([&] {
        kube::InformerOptions options;
        options.namespaces = {place_.ns};
        informers.SetDefaultOptions(api::Leases(), options);
        return informers.Get(api::Leases());
      }()),
      refusals_(clock),
      handler_(leases_->AddHandler(
          {.on_add =
               [this](const kube::ObjectPtr& lease, bool) {
                 absl::MutexLock lock(&mu_);
                 removed_.erase(std::string(lease->name()));
               },
           .on_delete = [this](const kube::ObjectPtr& lease) { NoteRemoved(*lease); }})) {}

ClusterShards::~ClusterShards() { leases_->RemoveHandler(handler_); }

void ClusterShards::NoteRemoved(const kube::Object& lease) {
  const std::string holder = HolderOf(lease);
  const bool is_shard = absl::StartsWith(lease.name(), kShard);
  if (!is_shard || holder.empty() || holder == place_.lease) return;
  const base::SteadyTime now = clock_.SteadyNow();
  absl::MutexLock lock(&mu_);
  std::erase_if(removed_,
                [&](const auto& one) { return now >= one.second.since + place_.lease_duration; });
  removed_[std::string(lease.name())] = {holder, now};
}

absl::Status ClusterShards::WaitForSync(base::SteadyTime deadline, const base::StopToken& stop) {
  return leases_->WaitForSync(deadline, stop);
}

std::set<std::string> ClusterShards::Share(const Wanted& wanted, const base::StopToken& stop) {
  LookAtProcesses(stop);
  LookAtHeld(stop);
  std::set<std::string> mine, may_serve;
  int tried = 0, taken = 0;
  has_more_ = false;
  for (const std::string& cluster : wanted.clusters) {
    if (!IsMine(cluster, wanted)) continue;
    mine.insert(cluster);
    if (!held_.contains(cluster)) {
      const std::string lease = LeaseOf(cluster);
      if (stop.stop_requested() || !refusals_.MayWrite(lease) || !IsFree(lease)) continue;
      if (tried == kTakenAtOnce) {
        has_more_ = taken > 0;
        continue;
      }
      ++tried;
      refusals_.Note(lease, Take(cluster, stop));
      if (!held_.contains(cluster)) continue;
      ++taken;
    }
    may_serve.insert(cluster);
  }
  for (const kube::Object& lease : HeldLeases()) {
    const std::string cluster = ClusterOf(lease);
    if (mine.contains(cluster) || wanted.serving.contains(cluster)) continue;
    if (stop.stop_requested() || !refusals_.MayWrite(LeaseOf(cluster))) continue;
    refusals_.Note(LeaseOf(cluster),
                   GiveBack(cluster, lease, !wanted.clusters.contains(cluster), stop));
  }
  return may_serve;
}

bool ClusterShards::IsMine(const std::string& cluster, const Wanted& wanted) const {
  if (wanted.staying.contains(cluster) && held_.contains(cluster)) return true;
  return OwnerOf(cluster, alive_) == place_.lease;
}

std::vector<kube::Object> ClusterShards::HeldLeases() const {
  std::vector<kube::Object> leases;
  for (const auto& [cluster, held] : held_) leases.push_back(held.lease);
  for (const kube::ObjectPtr& lease : leases_->store().List()) {
    const bool is_shard = absl::StartsWith(lease->name(), kShard);
    if (!is_shard || HolderOf(*lease) != place_.lease) continue;
    if (!held_.contains(ClusterOf(*lease))) leases.push_back(*lease);
  }
  return leases;
}

// The election writes the Lease as well; each of the two finds the change of the other one.
void ClusterShards::Leave(const base::StopToken& stop) {
  if (peers_ == place_.lease) return;
  absl::Status left = absl::AbortedError("not tried");
  for (int i = 0; i < kTriesToLeave && !left.ok() && !stop.stop_requested(); ++i) {
    absl::StatusOr<kube::Object> lease =
        client_.Get(api::Leases(), {place_.ns, place_.lease}, stop);
    left = lease.status();
    if (!lease.ok() || HolderOf(*lease).empty()) break;
    lease->SetAnnotation(kLeaves, "true");
    left = client_.Replace(api::Leases(), *lease, {}, stop).status();
    if (!left.ok() && !kube::IsConflict(left)) break;
  }
  base::IgnoreError(left, "its clusters are taken when it has ended");
}

void ClusterShards::GiveBackBut(const std::set<std::string>& serving, const base::StopToken& stop) {
  if (peers_ == place_.lease) return;  // All are free when the Lease of the fleet is.
  std::vector<kube::Object> leases;
  for (const auto& [cluster, held] : held_) {
    if (!serving.contains(cluster)) leases.push_back(held.lease);
  }
  if (leases.empty()) return;
  kube::FanOut at_once(clock_, kFreedAtOnce, /*parts_per_thread=*/1);
  const absl::Status freed = at_once.Run(leases.size(), [&](size_t i) {
    const absl::Status written = Free(leases[i], stop);
    // Ends the others, too.
    return stop.stop_requested() ? absl::CancelledError("it takes too long") : written;
  });
  base::IgnoreError(freed, "their holder will be seen to be gone");
  for (const kube::Object& lease : leases) held_.erase(ClusterOf(lease));
}

absl::Status ClusterShards::Free(const kube::Object& lease, const base::StopToken& stop) {
  kube::Object free = lease;
  free.Erase({"spec", "holderIdentity"});
  return client_.Replace(api::Leases(), free, {}, stop).status();
}

void ClusterShards::LookAtProcesses(const base::StopToken& stop) {
  alive_ = {place_.lease};
  std::set<std::string> present;
  for (const kube::ObjectPtr& lease : leases_->store().List()) {
    const std::string name(lease->name());
    if (!IsOfProcess(name) || name == place_.lease) continue;
    present.insert(name);
    LookAt(*lease, stop);
  }
  std::erase_if(seen_, [&present](const auto& one) { return !present.contains(one.first); });
}

void ClusterShards::LookAt(const kube::Object& process, const base::StopToken& stop) {
  const std::string name(process.name());
  if (const auto dead = dead_.find(name); dead != dead_.end() && dead->second != process.uid()) {
    dead_.erase(dead);
  }
  if (IsAlive(process, clock_.SteadyNow())) {
    const bool counts = absl::StartsWith(name, peers_) && process.Annotation(kLeaves).empty();
    if (counts) alive_.insert(name);
    return;
  }
  // The next process of a fleet takes it as it is.
  if (HolderOf(process).empty() && absl::StartsWith(name, kFleet)) return;
  if (!refusals_.MayWrite(name)) return;
  const absl::Status removed =
      client_.Delete(api::Leases(), process.key(), AsSeen(process), stop).status();
  refusals_.Note(name, removed);
  if (!removed.ok()) return;
  dead_[name] = std::string(process.uid());
  base::LogInfo("a replica is gone; its clusters are shared by the others", {{"replica", name}});
}

void ClusterShards::LookAtHeld(const base::StopToken& stop) {
  for (auto it = held_.begin(); it != held_.end();) {
    const auto at = it++;
    auto& [cluster, held] = *at;
    const kube::ObjectPtr seen = leases_->store().Find(held.lease.key());
    if (seen != nullptr) {
      held.was_seen = true;
      // Somebody has declared this process dead, or a user has edited the Lease.
      const bool is_lost = HolderOf(*seen) != place_.lease &&
                           kube::ResourceVersionOf(*seen) > kube::ResourceVersionOf(held.lease);
      if (is_lost) held_.erase(at);
      continue;
    }
    // Otherwise the copy is behind.
    if (held.was_seen && refusals_.MayWrite(LeaseOf(cluster))) MakeAgain(held, stop);
  }
}

void ClusterShards::MakeAgain(Held& held, const base::StopToken& stop) {
  kube::Object again = kube::Object::Make(api::Leases().gvk, held.lease.key());
  again.Set({"spec"}, held.lease.spec());
  absl::StatusOr<kube::Object> written = client_.Create(api::Leases(), again, {}, stop);
  refusals_.Note(std::string(again.name()), written.status());
  if (written.ok()) held = {.lease = *std::move(written)};
}

bool ClusterShards::IsAlive(const kube::Object& lease, base::SteadyTime now) {
  if (HolderOf(lease).empty()) return false;  // It has given it up at its end.
  Seen& seen = seen_[std::string(lease.name())];
  if (seen.version != lease.resource_version()) {
    seen = {std::string(lease.resource_version()), now};
  }
  return now < seen.since + absl::Seconds(lease.spec()["leaseDurationSeconds"].AsInt());
}

bool ClusterShards::IsGone(const std::string& process) {
  if (!IsOfProcess(process)) return true;  // Nobody, or nothing that would act.
  const kube::ObjectPtr lease = leases_->store().Find({place_.ns, process});
  const auto dead = dead_.find(process);
  if (lease != nullptr) {
    missing_.erase(process);
    // It has given it up at its end, or the copy is older than the removal.
    return HolderOf(*lease).empty() || (dead != dead_.end() && dead->second == lease->uid());
  }
  if (dead != dead_.end()) return true;
  // Removed by another process, or by a user: it may not have noticed yet.
  const base::SteadyTime now = clock_.SteadyNow();
  const auto since = missing_.emplace(process, now).first->second;
  return now >= since + place_.lease_duration;
}

// Its holder makes it again when it sees that.
bool ClusterShards::WasRemovedUnderHolder(const std::string& lease) {
  Removed removed;
  {
    absl::MutexLock lock(&mu_);
    const auto found = removed_.find(lease);
    if (found == removed_.end()) return false;
    removed = found->second;
  }
  if (clock_.SteadyNow() < removed.since + place_.lease_duration && !IsGone(removed.holder)) {
    return true;
  }
  absl::MutexLock lock(&mu_);
  removed_.erase(lease);
  return false;
}

bool ClusterShards::IsFree(const std::string& lease) {
  const kube::ObjectPtr present = leases_->store().Find({place_.ns, lease});
  if (present == nullptr) return !WasRemovedUnderHolder(lease);
  return HolderOf(*present) == place_.lease || IsGone(HolderOf(*present));
}

absl::Status ClusterShards::Take(const std::string& cluster, const base::StopToken& stop) {
  const kube::ObjectKey key{place_.ns, LeaseOf(cluster)};
  const kube::ObjectPtr present = leases_->store().Find(key);
  kube::Object claim = present != nullptr ? *present : kube::Object::Make(api::Leases().gvk, key);
  claim.Set({"spec", "holderIdentity"}, place_.lease);
  claim.Set({"spec", "acquireTime"}, kube::FormatMicroTime(clock_.Now()));
  const int64_t before = claim.spec()["leaseTransitions"].AsInt();
  claim.Set({"spec", "leaseTransitions"}, present == nullptr ? int64_t{0} : before + 1);
  absl::StatusOr<kube::Object> written = present == nullptr
                                             ? client_.Create(api::Leases(), claim, {}, stop)
                                             : client_.Replace(api::Leases(), claim, {}, stop);
  RETURN_IF_ERROR(written.status());
  held_[cluster] = {.lease = *std::move(written), .was_seen = present != nullptr};
  return absl::OkStatus();
}

absl::Status ClusterShards::GiveBack(const std::string& cluster, const kube::Object& lease,
                                     bool removes, const base::StopToken& stop) {
  const absl::Status written =
      removes ? client_.Delete(api::Leases(), lease.key(), AsSeen(lease), stop).status()
              : Free(lease, stop);
  // Otherwise it is tried again: until then nobody else has it.
  if (written.ok() || kube::IsConflict(written) || kube::IsGone(written)) held_.erase(cluster);
  return written;
}

}  // namespace cmd
