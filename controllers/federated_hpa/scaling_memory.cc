#include "controllers/federated_hpa/scaling_memory.h"

#include <algorithm>

#include "absl/container/flat_hash_set.h"
#include "base/json.h"

namespace controllers {

std::shared_ptr<ScalingMemory::Entry> ScalingMemory::Of(const kube::Object& hpa,
                                                        const ScaleTarget& target) {
  absl::MutexLock lock(&mu_);
  std::shared_ptr<Entry>& entry = entries_[hpa.key()];
  const bool is_same = entry != nullptr && entry->uid == hpa.uid() && entry->gvk == target.gvk &&
                       entry->name == target.key.name;
  if (!is_same) {
    entry = std::make_shared<Entry>();
    entry->uid = std::string(hpa.uid());
    entry->gvk = target.gvk;
    entry->name = target.key.name;
    selectors_.erase(hpa.key());
  }
  return entry;
}

void ScalingMemory::Forget(const kube::ObjectKey& hpa) {
  absl::MutexLock lock(&mu_);
  entries_.erase(hpa);
  selectors_.erase(hpa);
}

void ScalingMemory::SetSelector(const kube::ObjectKey& hpa, const kube::LabelSelector& selector) {
  absl::MutexLock lock(&mu_);
  selectors_[hpa] = selector;
}

namespace {

// The pods of a workload have one set of labels, or two during a roll-out.
std::vector<const json::Value*> DifferentLabels(absl::Span<const autoscaling::Pod> pods) {
  absl::flat_hash_set<std::string> seen;
  std::vector<const json::Value*> different;
  for (const autoscaling::Pod& pod : pods) {
    const json::Value& labels = pod.object->labels();
    if (seen.insert(json::Write(labels)).second) different.push_back(&labels);
  }
  return different;
}

}  // namespace

std::vector<kube::ObjectKey> ScalingMemory::Selecting(
    const std::string& ns, absl::Span<const autoscaling::Pod> pods) const {
  const std::vector<const json::Value*> different = DifferentLabels(pods);
  absl::MutexLock lock(&mu_);
  std::vector<kube::ObjectKey> found;
  for (auto it = selectors_.lower_bound({ns, ""}); it != selectors_.end(); ++it) {
    const auto& [key, selector] = *it;
    if (key.ns != ns) break;
    const bool selects =
        std::any_of(different.begin(), different.end(),
                    [&](const json::Value* labels) { return selector.Matches(*labels); });
    if (selects) found.push_back(key);
  }
  return found;
}

}  // namespace controllers
