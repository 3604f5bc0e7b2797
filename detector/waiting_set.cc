#include "detector/waiting_set.h"

#include <tuple>

namespace detector {
namespace {

kube::Request RequestOf(const kube::Gvk& gvk, const std::string& ns, const std::string& name) {
  kube::Request request;
  request.gvk = gvk;
  request.key = {ns, name};
  return request;
}

}  // namespace

bool WaitingSet::Add(const kube::Request& request) {
  absl::MutexLock lock(&mu_);
  return kinds_[request.gvk][request.key.ns].insert(request.key.name).second;
}

void WaitingSet::Remove(const kube::Request& request) {
  absl::MutexLock lock(&mu_);
  const auto kind = kinds_.find(request.gvk);
  if (kind == kinds_.end()) return;
  const auto ns = kind->second.find(request.key.ns);
  if (ns == kind->second.end() || ns->second.erase(request.key.name) == 0) return;
  if (ns->second.empty()) kind->second.erase(ns);
  if (kind->second.empty()) kinds_.erase(kind);
}

void WaitingSet::RemoveKind(const kube::Gvk& gvk) {
  absl::MutexLock lock(&mu_);
  kinds_.erase(gvk);
}

std::vector<kube::Request> WaitingSet::Matching(const kube::Gvk& gvk, absl::string_view ns,
                                                absl::string_view name) const {
  std::vector<kube::Request> requests;
  absl::MutexLock lock(&mu_);
  const auto kind = kinds_.find(gvk);
  if (kind == kinds_.end()) return requests;
  const Namespaces& all = kind->second;
  auto begin = all.begin(), end = all.end();
  // The one namespace, if anything waits there.
  if (!ns.empty()) std::tie(begin, end) = all.equal_range(ns);
  for (auto entry = begin; entry != end; ++entry) {
    const auto& [waiting_ns, names] = *entry;
    const auto first = name.empty() ? names.begin() : names.lower_bound(name);
    for (auto it = first; it != names.end() && (name.empty() || *it == name); ++it) {
      requests.push_back(RequestOf(gvk, waiting_ns, *it));
    }
  }
  return requests;
}

std::vector<kube::Gvk> WaitingSet::Kinds() const {
  std::vector<kube::Gvk> kinds;
  absl::MutexLock lock(&mu_);
  kinds.reserve(kinds_.size());
  for (const auto& [gvk, namespaces] : kinds_) kinds.push_back(gvk);
  return kinds;
}

}  // namespace detector
