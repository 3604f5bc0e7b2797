#include "works/informer_handlers.h"

namespace works {

bool InformerHandlers::Add(const std::string& cluster,
                           const std::shared_ptr<kube::Informer>& informer,
                           const std::function<kube::EventHandler()>& make) {
  const auto added = std::make_shared<absl::Notification>();
  std::shared_ptr<absl::Notification> by_another;
  {
    absl::MutexLock lock(&mu_);
    Entry& known = entries_[{cluster, informer->resource().gvr()}];
    if (known.informer.lock() == informer) {
      by_another = known.added;
    } else {
      known = {informer, added};
      // A new informer is rare, unlike this call, so entries of informers that have ended are
      // removed here.
      absl::erase_if(entries_, [](const auto& entry) { return entry.second.informer.expired(); });
    }
  }
  if (by_another != nullptr) {
    by_another->WaitForNotification();
    return false;
  }
  informer->AddHandler(make());
  added->Notify();
  return true;
}

}  // namespace works
