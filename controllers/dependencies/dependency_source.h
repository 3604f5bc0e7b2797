// Feeds the dependencies loop with changes of the objects that templates depend on.
#ifndef CONTROLLERS_DEPENDENCIES_DEPENDENCY_SOURCE_H_
#define CONTROLLERS_DEPENDENCIES_DEPENDENCY_SOURCE_H_

#include <memory>
#include <string>
#include <vector>

#include "kube/cache/informer.h"
#include "kube/meta/object.h"
#include "kube/runtime/handler_registration.h"
#include "kube/runtime/watched_kinds.h"
#include "kube/runtime/work_queue.h"
#include "works/rechecks.h"

namespace controllers {

// Returns whether the binding brings its template's dependencies along.
bool PropagatesDependencies(const kube::Object& binding);

// The index of ResourceBindings by what they record as their dependencies.
inline constexpr char kDependencyIndex[] = "dependency";
std::vector<std::string> DependencyKeys(const kube::Object& binding);

// Asks for each kind of which a propagating binding records a dependency.
class DependencySource : public kube::KindSubscriber {
 public:
  struct Deps {
    std::shared_ptr<kube::Informer> bindings;  // Has kDependencyIndex.
    kube::WorkQueue& queue;                    // Gets the keys of ResourceBindings.
    const works::Rechecks& rechecks;
  };
  // Follows bindings from now on. REQUIRES: `kinds` and what is in `deps` outlive the source.
  DependencySource(Deps deps, kube::WatchedKinds& kinds);

  kube::EventHandler HandlerFor(const kube::Resource& resource) override;
  // A rule may name any version that is served.
  bool TakesAnyVersion() const override { return true; }

 private:
  // Returns the propagating bindings that record a dependency which the object is.
  std::vector<kube::ObjectKey> ReferrersOf(const kube::Object& object) const;
  void Queue(const std::vector<kube::ObjectKey>& referrers, int priority);
  // Asks for another look at the bindings that are attached for the object.
  void RecheckAttached(const kube::Object& object, const std::vector<kube::ObjectKey>& referrers,
                       int priority);
  void OnAdd(const kube::Object& object, int priority);
  void OnUpdate(const kube::Object& before, const kube::Object& after);

  const Deps deps_;
  kube::WatchedKinds::Subscription subscription_;
  kube::HandlerRegistration followed_;  // It uses the subscription.
};

}  // namespace controllers

#endif  // CONTROLLERS_DEPENDENCIES_DEPENDENCY_SOURCE_H_
