#include "works/rechecks.h"

#include <utility>

namespace works {

void Rechecks::Subscribe(const kube::Resource& resource, kube::WorkQueue& queue,
                         std::function<bool(const kube::Object& object)> wants) {
  absl::MutexLock lock(&mu_);
  subscribers_.push_back({resource.gvk.kind, queue, std::move(wants)});
}

void Rechecks::Publish(const kube::Object& object, int priority) const {
  absl::MutexLock lock(&mu_);
  for (const Subscriber& subscriber : subscribers_) {
    if (subscriber.kind != object.kind()) continue;
    if (subscriber.wants && !subscriber.wants(object)) continue;
    subscriber.queue.Add({.key = object.key()}, priority);
  }
}

}  // namespace works
