// Discovery answers incompletely at times without saying so: an API server opens its port before it
// has read the CustomResourceDefinitions, and lists the group of an aggregated API without a single
// resource until it has asked the server behind it. Whoever believed such an answer would drop
// caches, report every object of the kind to watchers as deleted, and delete its documents from
// OpenSearch. So a denial counts only when it has lasted; a failure of discovery is not a denial,
// and it leaves everything as it was.

#include "search/registry/kind_table.h"

#include <algorithm>
#include <utility>

namespace search {
namespace {

bool IsDenial(const absl::StatusOr<kube::Resource>& found) {
  return absl::IsNotFound(found.status());
}

}  // namespace

KindTable::KindTable(KindResolver resolver, const base::Clock& clock)
    : resolver_(std::move(resolver)), clock_(clock) {}

KindTable::Entry KindTable::Ask(const kube::Gvk& gvk, const base::StopToken& stop) const {
  Entry answer{.found = resolver_(gvk, stop)};
  const auto known = entries_.find(gvk);
  const base::SteadyTime now = clock_.SteadyNow();
  if (!IsDenial(answer.found)) {
    if (!answer.found.ok() && known != entries_.end()) answer.found = known->second.found;
    return answer;
  }
  if (known == entries_.end()) {
    answer.denied_since = now;
    return answer;
  }
  answer.denied_since = std::min(known->second.denied_since, now);
  if (known->second.found.ok() && now - answer.denied_since < kGoneAfter) {
    answer.found = known->second.found;
  }
  return answer;
}

bool KindTable::Resolve(const std::set<kube::Gvk>& wanted, const base::StopToken& stop) {
  std::map<kube::Gvk, Entry> next;
  for (const kube::Gvk& gvk : wanted) next.emplace(gvk, Ask(gvk, stop));
  const bool same = std::equal(next.begin(), next.end(), entries_.begin(), entries_.end(),
                               [](const auto& a, const auto& b) {
                                 return a.first == b.first && a.second.found == b.second.found;
                               });
  entries_ = std::move(next);
  return !same;
}

const absl::StatusOr<kube::Resource>* KindTable::Find(const kube::Gvk& gvk) const {
  const auto entry = entries_.find(gvk);
  return entry == entries_.end() ? nullptr : &entry->second.found;
}

bool KindTable::AnyFails() const {
  return std::any_of(entries_.begin(), entries_.end(), [](const auto& entry) {
    const auto& found = entry.second.found;
    return !found.ok() && !IsDenial(found);
  });
}

bool KindTable::AllFail() const {
  return std::all_of(entries_.begin(), entries_.end(), [](const auto& entry) {
    const auto& found = entry.second.found;
    return !found.ok() && !IsDenial(found);
  });
}

bool KindTable::HasDoubts() const {
  const base::SteadyTime now = clock_.SteadyNow();
  return std::any_of(entries_.begin(), entries_.end(), [&](const auto& entry) {
    const absl::Duration needed = entry.second.found.ok() ? kGoneAfter : kDoubted;
    return entry.second.denied_since <= now && now - entry.second.denied_since < needed;
  });
}

}  // namespace search
