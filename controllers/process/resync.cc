#include "controllers/process/resync.h"

#include <memory>

namespace controllers {

void ResyncAll(const kube::InformerSet& control_plane, const kube::ClusterSet& members,
               const base::StopToken& stop) {
  control_plane.Resync();
  for (const std::string& name : members.Names()) {
    const std::shared_ptr<kube::MemberCluster> member = members.Find(name);
    if (member == nullptr || stop.stop_requested()) continue;
    member->client().informers().Resync();
    member->unfiltered().Resync();
  }
}

absl::Duration Resync::Tick(const base::StopToken& stop) {
  ResyncAll(control_plane_, members_, stop);
  return period_;
}

}  // namespace controllers
