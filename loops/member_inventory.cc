#include "loops/member_inventory.h"

#include <utility>

#include "base/status.h"

namespace loops {

void MemberInventory::Trim(const kube::Resource& resource, TrimFn trim) {
  absl::MutexLock lock(&mu_);
  trims_[resource.gvr()].push_back(std::move(trim));
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
  const auto found = trims_.find(resource.gvr());
  if (found == trims_.end() || found->second.size() > 1) return {};
  return {.label_selector = "", .transform = found->second.front()};
}

}  // namespace loops
