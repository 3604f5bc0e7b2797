#include "detector/blocked_set.h"

#include <algorithm>

namespace detector {
namespace {

kube::Request TemplateOf(const kube::Request& request) {
  return {.key = request.key, .gvk = request.gvk};
}

}  // namespace

void BlockedSet::Add(const kube::Request& request, const kube::ObjectKey& policy) {
  absl::MutexLock lock(&mu_);
  const auto [it, is_new] =
      entries_.try_emplace(TemplateOf(request), Entry{request.reason, policy});
  if (is_new) return;
  it->second = {std::min(it->second.reason, request.reason), policy};
}

void BlockedSet::Remove(const kube::Request& request) {
  absl::MutexLock lock(&mu_);
  const auto it = entries_.find(TemplateOf(request));
  if (it != entries_.end() && it->second.reason >= request.reason) entries_.erase(it);
}

void BlockedSet::Forget(const kube::Request& request) {
  absl::MutexLock lock(&mu_);
  entries_.erase(TemplateOf(request));
}

void BlockedSet::RemoveKind(const kube::Gvk& gvk) {
  absl::MutexLock lock(&mu_);
  std::erase_if(entries_, [&](const auto& entry) { return entry.first.gvk == gvk; });
}

std::vector<BlockedSet::Blocked> BlockedSet::All() const {
  std::vector<Blocked> all;
  absl::MutexLock lock(&mu_);
  all.reserve(entries_.size());
  for (const auto& [request, entry] : entries_) {
    all.push_back({request, entry.policy});
    all.back().request.reason = entry.reason;
  }
  return all;
}

}  // namespace detector
