#include "kube/runtime/internal/cache_gate.h"

#include <algorithm>

#include "base/log.h"
#include "base/status.h"
#include "kube/cache/sync_notice.h"
#include "kube/client/list_budget.h"

namespace kube::internal {

absl::Status CacheGate::Ask(const std::function<void()>& wake, const base::StopToken& stop) {
  for (; synced_ < informers_.size(); ++synced_) {
    Informer& informer = *informers_[synced_];
    if (notices_ == synced_) {
      ++notices_;
      deadline_ = begun_ + timeout_;
      // If it has settled already this costs a look in vain.
      if (!informer.HasSynced()) CallWhenSettled(informer, wake);
    }
    RETURN_IF_ERROR(AskOne(informer, stop));
  }
  return absl::OkStatus();
}

absl::Status CacheGate::AskOne(const Informer& informer, const base::StopToken& stop) {
  const base::SteadyTime now = clock_.SteadyNow();
  absl::Status synced = informer.WaitForSync(now, stop);
  if (!absl::IsDeadlineExceeded(synced)) return synced;
  if (now >= deadline_) {
    deadline_ = std::min(informer.last_page() + timeout_,
                         begun_ + std::max(timeout_, ListBudget::kLongest));
    if (now >= deadline_) return synced;
    base::LogInfo("a cache is still being read", {{"controller", controller_},
                                                  {"kind", informer.resource().gvk.kind},
                                                  {"objects", informer.store().size()}});
  }
  return absl::UnavailableError("not yet");
}

}  // namespace kube::internal
