// The informers are those of the connection to the member (MemberCluster::unfiltered), so they end
// with it, and the next call makes new ones. followers_, shared with what Follow has returned,
// counts who follows an informer that only followers use; one that InformerFor has returned once
// has no count, and stays. followers_->mu is held while an informer is looked up or made, so that
// two calls do not make two, and the last follower does not end one that another call has just
// found. mu_, taken after it, guards which loop reads which fields. Handlers are added and removed
// without a lock, because both wait for calls of handlers.
//
// The counts and the fields are this process's; what a connection that ended had read is read
// again.

#include "controllers/context/member_inventory.h"

#include <utility>

#include "base/status.h"

namespace controllers {
namespace {

constexpr absl::Duration kInventoryWait = absl::Seconds(30);
constexpr absl::Duration kInventoryPoll = absl::Milliseconds(20);

}  // namespace

void MemberInventory::Reads(const kube::Resource& resource,
                            const std::vector<std::string>& fields) {
  absl::MutexLock lock(&mu_);
  fields_[resource.gvr()][""].insert(fields.begin(), fields.end());
}

void MemberInventory::SetReads(const std::string& loop, const kube::Resource& resource,
                               const std::vector<std::string>& fields) {
  absl::MutexLock lock(&followers_->mu);  // No informer is made with the old fields meanwhile.
  const Fields before = FieldsOf(resource);
  {
    absl::MutexLock fields_lock(&mu_);
    fields_[resource.gvr()][loop] = {fields.begin(), fields.end()};
  }
  // Informers with the old fields are removed; their readers get Aborted from Await, and the next
  // call of InformerFor or Follow makes new ones.
  if (FieldsOf(resource) == before) return;
  for (const std::string& cluster : members_.Names()) {
    const std::shared_ptr<kube::MemberCluster> member = members_.Find(cluster);
    if (member != nullptr) member->unfiltered().Remove(resource);
  }
}

absl::StatusOr<std::shared_ptr<kube::Informer>> MemberInventory::InformerFor(
    const std::string& cluster, const kube::Resource& resource) {
  ASSIGN_OR_RETURN(const std::shared_ptr<kube::MemberCluster> member, members_.Get(cluster));
  absl::MutexLock lock(&followers_->mu);
  bool is_new = false;
  std::shared_ptr<kube::Informer> informer = Informer(*member, resource, is_new);
  followers_->counts.erase(informer.get());  // From now on it stays.
  return informer;
}

absl::StatusOr<std::unique_ptr<MemberInventory::Followed>> MemberInventory::Follow(
    const std::string& cluster, const kube::Resource& resource, kube::EventHandler handler) {
  ASSIGN_OR_RETURN(const std::shared_ptr<kube::MemberCluster> member, members_.Get(cluster));
  std::unique_ptr<Followed> followed;
  {
    absl::MutexLock lock(&followers_->mu);
    bool is_new = false;
    const std::shared_ptr<kube::Informer> informer = Informer(*member, resource, is_new);
    followed.reset(new Followed(followers_, member, informer));
    const auto known = followers_->counts.find(informer.get());
    if (is_new) followers_->counts[informer.get()] = 1;
    if (!is_new && known != followers_->counts.end()) ++known->second;
  }
  // Without the lock, because adding a handler may call it with everything that is there.
  followed->handler_ = followed->informer()->AddHandler(std::move(handler));
  return followed;
}

std::shared_ptr<kube::Informer> MemberInventory::Informer(kube::MemberCluster& member,
                                                          const kube::Resource& resource,
                                                          bool& is_new) {
  kube::InformerSet& informers = member.unfiltered();
  if (std::shared_ptr<kube::Informer> known = informers.Find(resource)) return known;
  is_new = true;
  const Fields fields = FieldsOf(resource);
  informers.SetDefaultOptions(resource, {.fields = {fields.begin(), fields.end()}});
  return informers.Get(resource);
}

bool MemberInventory::IsCurrent(const std::string& cluster, const Followed& followed) const {
  const std::shared_ptr<kube::MemberCluster> member = members_.Find(cluster);
  return member != nullptr && member == followed.member_.lock();
}

MemberInventory::Followed::~Followed() {
  // First, and without the lock: it waits for calls of the handler that are under way.
  informer_->RemoveHandler(handler_);
  absl::MutexLock lock(&followers_->mu);
  const auto known = followers_->counts.find(informer_.get());
  if (known == followers_->counts.end() || --known->second > 0) return;
  followers_->counts.erase(known);
  // A new connection has informers of its own; the set of the old one has ended.
  const std::shared_ptr<kube::MemberCluster> member = member_.lock();
  if (member != nullptr) member->unfiltered().Remove(informer_->resource());
}

MemberInventory::Fields MemberInventory::FieldsOf(const kube::Resource& resource) const {
  Fields all;
  absl::MutexLock lock(&mu_);
  const auto found = fields_.find(resource.gvr());
  if (found == fields_.end()) return all;
  for (const auto& [loop, fields] : found->second) all.insert(fields.begin(), fields.end());
  return all;
}

absl::Status MemberInventory::Await(const std::string& cluster, const kube::Informer& informer,
                                    const base::Clock& clock, const base::StopToken& stop) const {
  const base::SteadyTime deadline = clock.SteadyNow() + kInventoryWait;
  while (!informer.HasSynced()) {
    RETURN_IF_ERROR(informer.last_error());
    if (!IsInUse(cluster, informer)) {
      return absl::AbortedError("what is read of the objects has changed, or the connection");
    }
    if (clock.SteadyNow() >= deadline) return absl::DeadlineExceededError("not listed in time");
    if (!clock.SleepFor(kInventoryPoll, stop)) return absl::CancelledError("stopping");
  }
  // A sum without what is left out would be too small.
  if (!informer.LeavesOut()) return absl::OkStatus();
  return absl::ResourceExhaustedError("there is not enough memory for all objects of the kind");
}

bool MemberInventory::IsInUse(const std::string& cluster, const kube::Informer& informer) const {
  const std::shared_ptr<kube::MemberCluster> member = members_.Find(cluster);
  return member != nullptr && member->unfiltered().Find(informer.resource()).get() == &informer;
}

}  // namespace controllers
