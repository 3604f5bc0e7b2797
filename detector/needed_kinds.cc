#include "detector/needed_kinds.h"

#include <utility>

#include "api/binding.h"
#include "api/policy.h"

namespace detector {

void NeededKinds::AddPolicy(const kube::Object& policy) {
  absl::MutexLock lock(&mu_);
  for (const api::ResourceSelector& selector : api::PolicyView(policy).ResourceSelectors()) {
    const absl::StatusOr<kube::Gvk> gvk = kube::ParseGvk(selector.api_version(), selector.kind());
    if (gvk.ok()) Add(*gvk);
  }
}

void NeededKinds::AddBinding(const kube::Object& binding) {
  const kube::Gvk gvk = api::BindingView(binding).Resource().gvk();
  absl::MutexLock lock(&mu_);
  bound_.insert(gvk);
  Add(gvk);
}

bool NeededKinds::IsBound(const kube::Gvk& gvk) const {
  absl::MutexLock lock(&mu_);
  return bound_.contains(gvk);
}

std::vector<kube::Gvk> NeededKinds::All() const {
  absl::MutexLock lock(&mu_);
  return {kinds_.begin(), kinds_.end()};
}

bool NeededKinds::AwaitNews(base::SteadyTime deadline, const base::StopToken& stop) {
  bool stopped = false;
  base::StopCallback wake(stop, [&] {
    absl::MutexLock lock(&mu_);
    stopped = true;
  });
  // Let go before `wake` is destroyed, which waits for a callback that is running.
  absl::MutexLock lock(&mu_);
  const auto ready = [&]() ABSL_EXCLUSIVE_LOCKS_REQUIRED(mu_) { return stopped || news_; };
  clock_.AwaitUntil(mu_, absl::Condition(&ready), deadline);
  return std::exchange(news_, false);
}

void NeededKinds::Add(const kube::Gvk& gvk) {
  if (kinds_.insert(gvk).second) news_ = true;
}

}  // namespace detector
