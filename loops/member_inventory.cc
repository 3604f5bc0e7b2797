#include "loops/member_inventory.h"

#include <utility>

#include "base/status.h"

namespace loops {
namespace {

constexpr absl::Duration kInventoryWait = absl::Seconds(30);
constexpr absl::Duration kInventoryPoll = absl::Milliseconds(20);

}  // namespace

void MemberInventory::Reads(const kube::Resource& resource,
                            const std::vector<std::string>& fields) {
  absl::MutexLock lock(&mu_);
  fields_[resource.gvr()].insert(fields.begin(), fields.end());
}

absl::StatusOr<std::shared_ptr<kube::Informer>> MemberInventory::InformerFor(
    const std::string& cluster, const kube::Resource& resource) {
  ASSIGN_OR_RETURN(const std::shared_ptr<kube::MemberCluster> member, members_.Get(cluster));
  kube::InformerSet& informers = member->unfiltered();
  if (std::shared_ptr<kube::Informer> known = informers.Find(resource)) return known;
  informers.SetDefaultOptions(resource, OptionsFor(resource));
  return informers.Get(resource);
}

kube::InformerOptions MemberInventory::OptionsFor(const kube::Resource& resource) const {
  absl::MutexLock lock(&mu_);
  const auto found = fields_.find(resource.gvr());
  if (found == fields_.end()) return {};
  return {.fields = {found->second.begin(), found->second.end()}};
}

absl::Status AwaitInventory(const kube::Informer& informer, const base::Clock& clock,
                            const base::StopToken& stop) {
  const base::SteadyTime deadline = clock.SteadyNow() + kInventoryWait;
  while (!informer.HasSynced()) {
    RETURN_IF_ERROR(informer.last_error());
    if (clock.SteadyNow() >= deadline) return absl::DeadlineExceededError("still listing");
    if (!clock.SleepFor(kInventoryPoll, stop)) return absl::CancelledError("stopping");
  }
  return absl::OkStatus();
}

}  // namespace loops
