// Counts the writes that changed what a member was asked to have, to find those that changed
// nothing, and records which objects were created again.
#ifndef TESTS_BEHAVIOUR_EFFECTIVE_WRITES_H_
#define TESTS_BEHAVIOUR_EFFECTIVE_WRITES_H_

#include <atomic>
#include <cstdint>
#include <map>
#include <set>
#include <string>
#include <utility>

#include "absl/base/thread_annotations.h"
#include "absl/strings/match.h"
#include "absl/synchronization/mutex.h"
#include "base/json.h"
#include "kube/meta/object.h"
#include "sandbox/storage/backend.h"

namespace tests {

// Counts creations and changes of the Deployments and ConfigMaps whose name begins with a prefix.
// What the member's own controllers write does not count: status, and the number of a rollout.
class EffectiveWrites {
 public:
  // REQUIRES: `backend` outlives this.
  EffectiveWrites(sandbox::Backend& backend, std::string name_prefix)
      : backend_(backend), prefix_(std::move(name_prefix)) {
    const auto count = [this](const sandbox::Event& event) { Count(event); };
    subscriptions_[0] = backend_.Subscribe({"apps", "v1", "deployments"}, count);
    subscriptions_[1] = backend_.Subscribe({"", "v1", "configmaps"}, count);
  }
  ~EffectiveWrites() {
    for (const int64_t subscription : subscriptions_) backend_.Unsubscribe(subscription);
  }
  EffectiveWrites(const EffectiveWrites&) = delete;

  int64_t Count() const { return count_; }
  // Returns the objects that were created more than once, as "<kind> <namespace>/<name>".
  std::set<std::string> CreatedAgain() const {
    const absl::MutexLock lock(&mutex_);
    std::set<std::string> names;
    for (const auto& [name, creations] : creations_) {
      if (creations > 1) names.insert(name);
    }
    return names;
  }

 private:
  void Count(const sandbox::Event& event) {
    using Type = sandbox::Event::Type;
    if (event.object == nullptr || !absl::StartsWith(event.object->name(), prefix_)) return;
    const bool changed = event.type == Type::kModified && event.previous != nullptr &&
                         Asked(*event.object) != Asked(*event.previous);
    if (event.type == Type::kAdded || changed) ++count_;
    if (event.type != Type::kAdded) return;
    const absl::MutexLock lock(&mutex_);
    ++creations_[event.object->Describe()];
  }
  // Returns the parts that the control plane writes.
  static json::Value Asked(const kube::Object& object) {
    json::Value annotations = object.Get({"metadata", "annotations"});
    if (annotations.is_object()) annotations.Erase("deployment.kubernetes.io/revision");
    json::Value asked = json::Value::Array();
    asked.Append(std::move(annotations));
    asked.Append(object.Get({"metadata", "labels"}));
    asked.Append(object.Get({"spec"}));
    asked.Append(object.Get({"data"}));
    return asked;
  }

  sandbox::Backend& backend_;
  const std::string prefix_;
  std::atomic<int64_t> count_{0};
  mutable absl::Mutex mutex_;
  std::map<std::string, int> creations_ ABSL_GUARDED_BY(mutex_);  // By the object.
  int64_t subscriptions_[2] = {};
};

}  // namespace tests

#endif  // TESTS_BEHAVIOUR_EFFECTIVE_WRITES_H_
