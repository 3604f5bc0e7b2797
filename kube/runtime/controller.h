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

class Controller : public Runnable {
 public:
  struct Options {
    std::string name;
    int workers = 1;
    RateLimiterOptions limiter;
  };
  Controller(Options options, std::unique_ptr<Reconciler> reconciler, Manager& manager);
  ~Controller() override;

  WorkQueue& queue();
  // Waits for the informers to sync, then runs the workers until stopped; drains what they hold.
  absl::Status Run(const base::StopToken& stop) override;
  std::string name() const override;
  void WaitFor(std::shared_ptr<Informer> informer);

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
  // Events start to flow into the queue at once; workers start when the manager runs the controller (on
  // the leader). The controller belongs to the manager; the reference lives as long as it.
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

// The handler that Watches attaches; for sources that come and go (members' informers).
EventHandler EnqueueHandler(WorkQueue& queue, Predicates predicates, MapFn map);

}  // namespace kube

#endif  // KUBE_RUNTIME_CONTROLLER_H_
