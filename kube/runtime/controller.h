// A Reconciler with its queue and workers, and the builder that connects it to informers.
//
//   ControllerBuilder(manager)
//       .Named("execution-controller")
//       .Watches(works, {.update = GenerationChanged})
//       .WithWorkers(5)
//       .Build(std::move(reconciler));
#ifndef KUBE_RUNTIME_CONTROLLER_H_
#define KUBE_RUNTIME_CONTROLLER_H_

#include <functional>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "kube/cache/informer.h"
#include "kube/runtime/manager.h"
#include "kube/runtime/reconciler.h"
#include "kube/runtime/work_queue.h"

namespace kube {

// Which events count. An empty function lets everything through.
struct Predicates {
  std::function<bool(const Object&)> add;
  std::function<bool(const Object& before, const Object& after)> update;
  std::function<bool(const Object& last)> remove;
};
// The generation moved (setting a deletionTimestamp moves it too).
bool GenerationChanged(const Object& before, const Object& after);
bool ResourceVersionChanged(const Object& before, const Object& after);
bool Never(const Object&);
bool NeverUpdate(const Object& before, const Object& after);

// The requests an object stands for; the default is its own key.
using MapFn = std::function<std::vector<Request>(const Object&)>;

// What happens after a reconcile: an Action does as it says; an error is logged once, counted and
// requeued with back-off; kAborted (a write conflict) is requeued silently; a Terminal error is
// logged and counted only; kCancelled while stopping is dropped; an exception counts as a panic and
// as an error. Re-queues keep the item's priority.
//
// A stop lets the reconciles that run come to their end: the token they are given is the manager's
// abort_token().
class Controller : public Runnable {
 public:
  struct Options {
    std::string name;  // Label `controller` of the metrics.
    int workers = 1;
    RateLimiterOptions limiter;
  };
  // REQUIRES: the manager outlives the controller.
  Controller(Options options, std::unique_ptr<Reconciler> reconciler, Manager& manager);
  // Takes its handlers off the informers.
  ~Controller() override;

  // Thread-safe.
  WorkQueue& queue();
  // Waits for the informers to sync, then runs the workers until stopped; drains what they hold.
  // kDeadlineExceeded names the resource that did not sync within cache_sync_timeout and why.
  absl::Status Run(const base::StopToken& stop) override;
  std::string name() const override;
  void UpdateMetrics() override;
  // Before Run: the workers start only once this informer has synced.
  void WaitFor(std::shared_ptr<Informer> informer);
  // WaitFor, and events of the informer flow into the queue from now on.
  void Watch(std::shared_ptr<Informer> informer, Predicates predicates = {}, MapFn map = {});

 private:
  struct Impl;
  std::unique_ptr<Impl> impl_;
};

class ControllerBuilder {
 public:
  explicit ControllerBuilder(Manager& manager);
  ControllerBuilder& Named(std::string name);
  ControllerBuilder& Watches(std::shared_ptr<Informer> informer, Predicates predicates = {},
                             MapFn map = {});
  ControllerBuilder& WithWorkers(int workers);
  ControllerBuilder& WithLimiter(RateLimiterOptions limiter);
  // Events start to flow into the queue at once; workers start when the manager runs the controller
  // (on the leader). The controller belongs to the manager; the reference lives as long as it.
  Controller& Build(std::unique_ptr<Reconciler> reconciler);

 private:
  struct Source {
    std::shared_ptr<Informer> informer;
    Predicates predicates;
    MapFn map;
  };
  Manager& manager_;
  Controller::Options options_;
  std::vector<Source> sources_;
};

// The handler that Watches attaches; for sources that come and go (members' informers). An update
// is mapped from both its states. REQUIRES: the queue outlives the handler's registration.
EventHandler EnqueueHandler(WorkQueue& queue, Predicates predicates, MapFn map);

}  // namespace kube

#endif  // KUBE_RUNTIME_CONTROLLER_H_
