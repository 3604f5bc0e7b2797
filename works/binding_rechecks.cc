#include "works/binding_rechecks.h"

#include <utility>

namespace works {

void BindingRechecks::Subscribe(const kube::Resource& bindings, kube::WorkQueue& queue,
                                std::function<bool(const kube::Object& binding)> wants) {
  absl::MutexLock lock(&mu_);
  subscribers_.push_back({bindings.gvk.kind, queue, std::move(wants)});
}

void BindingRechecks::Publish(const kube::Object& binding) const {
  absl::MutexLock lock(&mu_);
  for (const Subscriber& subscriber : subscribers_) {
    if (subscriber.kind != binding.kind()) continue;
    if (subscriber.wants && !subscriber.wants(binding)) continue;
    subscriber.queue.Add({.key = binding.key()}, kube::kInitialListPriority);
  }
}

}  // namespace works
