#include "interpreter/live/hook_services.h"

#include <algorithm>
#include <utility>

#include "api/resources.h"
#include "base/log.h"

namespace interpreter::live {

HookServices::HookServices(kube::InformerSet& informers,
                           std::function<void(const kube::ObjectKey&)> on_change)
    : informers_(informers), on_change_(std::move(on_change)) {}

HookServices::~HookServices() {
  std::shared_ptr<kube::Informer> informer;
  int64_t handler = 0;
  {
    absl::MutexLock lock(&mu_);
    informer = std::move(informer_);
    handler = handler_;
  }
  if (informer != nullptr) informer->RemoveHandler(handler);
}

void HookServices::Follow(const webhook::HookSet& hooks, base::SteadyTime deadline,
                          const base::StopToken& stop) {
  const bool needed =
      std::any_of(hooks.hooks().begin(), hooks.hooks().end(),
                  [](const webhook::Hook& hook) { return hook.client.service.has_value(); });
  if (!needed) return;
  const absl::Status synced = Start()->WaitForSync(deadline, stop);
  if (synced.ok() || stop.stop_requested()) return;
  base::LogWarning("the Services that interpreter webhooks are behind are not known",
                   {{"error", synced}});
}

std::shared_ptr<kube::Informer> HookServices::Start() {
  {
    absl::MutexLock lock(&mu_);
    if (informer_ != nullptr && informers_.Find(api::Services()) == informer_) return informer_;
  }
  kube::EventHandler handler;
  handler.on_add = [this](const kube::ObjectPtr& service, bool) { on_change_(service->key()); };
  handler.on_update = [this](const kube::ObjectPtr& before, const kube::ObjectPtr& after) {
    if (before->spec() != after->spec()) on_change_(after->key());
  };
  handler.on_delete = [this](const kube::ObjectPtr& last) { on_change_(last->key()); };
  // The lock is not held here: AddHandler calls the handler for each known Service before it
  // returns.
  const std::shared_ptr<kube::Informer> informer = informers_.Get(api::Services());
  const int64_t id = informer->AddHandler(std::move(handler));
  absl::MutexLock lock(&mu_);
  informer_ = informer;
  handler_ = id;
  return informer_;
}

absl::StatusOr<kube::ObjectPtr> HookServices::Find(const kube::ObjectKey& key) const {
  std::shared_ptr<kube::Informer> informer;
  {
    absl::MutexLock lock(&mu_);
    informer = informer_;
  }
  if (informer != nullptr && informer->HasSynced()) return informer->store().Find(key);
  return absl::UnavailableError("the control plane's Services are not known yet");
}

}  // namespace interpreter::live
