#include "cmd/controller-manager/resync.h"

#include <memory>

namespace cmd {

absl::Status Resync::Run(const base::StopToken& stop) {
  while (clock_.SleepFor(period_, stop)) {
    control_plane_.Resync();
    for (const std::string& name : members_.Names()) {
      const std::shared_ptr<kube::MemberCluster> member = members_.Find(name);
      if (member == nullptr || stop.stop_requested()) continue;
      member->client().informers().Resync();
      member->unfiltered().Resync();
    }
  }
  return absl::OkStatus();
}

}  // namespace cmd
