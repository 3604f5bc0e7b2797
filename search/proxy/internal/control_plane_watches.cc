#include "search/proxy/internal/control_plane_watches.h"

#include <utility>
#include <vector>

namespace search {

std::shared_ptr<const ControlPlaneWatches::Entry> ControlPlaneWatches::Add(
    const kube::server::RequestInfo& info, const base::StopToken& outer) {
  std::shared_ptr<Entry> entry(new Entry(shared_from_this(), outer));
  const absl::MutexLock lock(&mu_);
  entry->id_ = ++last_id_;
  watches_.emplace(entry->id_, Watch{info, entry->stop_});
  return entry;
}

void ControlPlaneWatches::EndThose(
    const std::function<bool(const kube::server::RequestInfo& info)>& has_moved) {
  std::vector<base::StopSource> moved;
  {
    const absl::MutexLock lock(&mu_);
    for (const auto& [id, watch] : watches_) {
      if (has_moved(watch.info)) moved.push_back(watch.stop);
    }
  }
  for (base::StopSource& stop : moved) stop.request_stop();
}

void ControlPlaneWatches::Remove(uint64_t id) {
  const absl::MutexLock lock(&mu_);
  watches_.erase(id);
}

}  // namespace search
