// Feeds the dependencies loop with changes of the objects that templates depend on.
#ifndef CONTROLLERS_DEPENDENCIES_DEPENDENCY_SOURCE_H_
#define CONTROLLERS_DEPENDENCIES_DEPENDENCY_SOURCE_H_

#include <functional>
#include <map>
#include <memory>
#include <string>
#include <vector>

#include "absl/base/thread_annotations.h"
#include "absl/synchronization/mutex.h"
#include "kube/cache/informer.h"
#include "kube/meta/names.h"
#include "kube/meta/object.h"
#include "kube/runtime/handler_registration.h"
#include "kube/runtime/watched_kinds.h"
#include "kube/runtime/work_queue.h"
#include "works/rechecks.h"

namespace controllers {

// Returns whether the binding brings its template's dependencies along. One that names a template
// which is not its own (api::MayStandForResource) does not.
bool PropagatesDependencies(const kube::Object& binding);

// The index of ResourceBindings by what they record as their dependencies.
inline constexpr char kDependencyIndex[] = "dependency";
std::vector<std::string> DependencyKeys(const kube::Object& binding);

// The dependencies by label that bindings record, parsed once for each text of a record: objects of
// a kind that changes all the time would have it parsed at each change. Thread-safe.
class RecordedSelectors {
 public:
  // Returns whether a dependency that the binding records by labels selects the object.
  bool Select(const kube::Object& binding, const kube::Object& object);
  // Call it when the binding does not exist any more.
  void Forget(const kube::ObjectKey& binding);

 private:
  struct Parsed;
  std::shared_ptr<const Parsed> ParsedOf(const kube::Object& binding);

  absl::Mutex mu_;
  std::map<kube::ObjectKey, std::shared_ptr<const Parsed>> parsed_ ABSL_GUARDED_BY(mu_);
};

// Asks for each kind of which a propagating binding records a dependency.
class DependencySource : public kube::KindSubscriber {
 public:
  struct Deps {
    std::shared_ptr<kube::Informer> bindings;  // Has kDependencyIndex.
    kube::WorkQueue& queue;                    // Gets the keys of ResourceBindings.
    const works::Rechecks& rechecks;
    // Returns whether objects of the kind have dependencies that follow, too; empty: none has. Then
    // a change or the end of such an object is a matter of those that depend on it.
    std::function<bool(const kube::Gvk& gvk)> has_dependencies = nullptr;
  };
  // Follows bindings from now on. REQUIRES: `kinds` and what is in `deps` outlive the source.
  DependencySource(Deps deps, kube::WatchedKinds& kinds);

  kube::EventHandler HandlerFor(const kube::Resource& resource) override;
  // A rule may name any version that is served.
  bool TakesAnyVersion() const override { return true; }

 private:
  // Returns the propagating bindings that record a dependency which the object is.
  std::vector<kube::ObjectKey> ReferrersOf(const kube::Object& object);
  void Queue(const std::vector<kube::ObjectKey>& referrers, int priority);
  // Asks for another look at the bindings that are attached for the object.
  void RecheckAttached(const kube::Object& object, const std::vector<kube::ObjectKey>& referrers,
                       int priority);
  void OnAdd(const kube::Object& object, int priority);
  void OnUpdate(const kube::Object& before, const kube::Object& after);
  bool HasDependencies(const kube::Object& object) const;

  const Deps deps_;
  RecordedSelectors selectors_;
  kube::WatchedKinds::Subscription subscription_;
  kube::HandlerRegistration followed_;  // It uses the subscription.
  kube::HandlerRegistration forgetting_;
};

}  // namespace controllers

#endif  // CONTROLLERS_DEPENDENCIES_DEPENDENCY_SOURCE_H_
