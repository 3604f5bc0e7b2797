#include "detector/waiting_set.h"

#include <utility>

namespace detector {

bool WaitingSet::Add(kube::Request request) {
  request.changed_by_karmada = false;
  absl::MutexLock lock(&mu_);
  return requests_.insert(std::move(request)).second;
}

void WaitingSet::Remove(kube::Request request) {
  request.changed_by_karmada = false;
  absl::MutexLock lock(&mu_);
  requests_.erase(request);
}

std::vector<kube::Request> WaitingSet::All() const {
  absl::MutexLock lock(&mu_);
  return {requests_.begin(), requests_.end()};
}

}  // namespace detector
