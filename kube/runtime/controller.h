// A Reconciler with its queue and workers, and the builder that connects it to informers.
//
//   ControllerBuilder(manager)
//       .Named("execution-controller")
//       .Watches(kWorks, {.when = {.update = GenerationChanged}})
//       .Reads(kClusters)
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
// Returns whether the generation moved (setting a deletionTimestamp moves it too), or the spec did:
// a server that was restored from a backup gives the same generation to another spec.
bool GenerationChanged(const Object& before, const Object& after);
bool ResourceVersionChanged(const Object& before, const Object& after);
bool Never(const Object&);
bool NeverUpdate(const Object& before, const Object& after);

// Files objects under the value of a label; those without it (or with "") are left out.
IndexFn IndexByLabel(absl::string_view label);

// The requests that an object stands for.
using MapFn = std::function<std::vector<Request>(const Object&)>;
// The requests that an update stands for, for loops that have to compare its two states.
using UpdateMapFn = std::function<std::vector<Request>(const Object& before, const Object& after)>;

// What the events of an informer put into a queue.
struct Enqueue {
  Predicates when;
  MapFn map;  // Empty: the object's own key.
  // Empty: `map` of both states of the object.
  UpdateMapFn map_update;
  // How long a request waits in the queue; more requests of the same key in that time change
  // nothing.
  absl::Duration delay;
};

// What happens after a reconcile: an Action does as it says; an error is counted, requeued
// with back-off and logged (errors that are alike once in five minutes, with their number);
// kAborted (a write conflict) is requeued silently, unless the item has been requeued
// ConflictStreak::kSilent times in a row already; a Terminal error is logged and counted only;
// kCancelled while stopping is dropped; an exception counts as a panic and as an error. Re-queues
// keep the item's priority.
//
// A stop lets the reconciles that run come to their end: the token they are given is the manager's
// abort_token().
class Controller : public Runnable {
 public:
  struct Options {
    std::string name;  // Label `controller` of the metrics.
    int workers = 1;
    RateLimiterOptions limiter;
    LaneOptions lanes;
    bool checks_reads = true;  // See ControllerBuilder::ReadsWatchedKinds.
  };
  // REQUIRES: the manager outlives the controller.
  Controller(Options options, std::unique_ptr<Reconciler> reconciler, Manager& manager);
  // Takes its handlers off the informers.
  ~Controller() override;

  // Thread-safe.
  WorkQueue& queue();
  // Connects the queue to the informers: what is there already is queued first.
  void Prepare() override;
  // Waits for the informers to sync, then runs the workers until stopped; drains what they hold.
  // kDeadlineExceeded names the resource that did not sync within cache_sync_timeout and why.
  absl::Status Run(const base::StopToken& stop) override;
  std::string name() const override;
  void UpdateMetrics() override;
  // Something that feeds the queue, beside informers, or that the reconciler refers to. What was
  // kept last is destroyed first, all of it before the queue.
  void Keep(std::shared_ptr<void> kept);

 private:
  friend class ControllerBuilder;
  // Is called before Run: the workers start only once this informer has synced.
  void Await(std::shared_ptr<Informer> informer);
  // Await, and events of the informer flow into the queue from Prepare on.
  void Watch(std::shared_ptr<Informer> informer, Enqueue enqueue);

  struct Impl;
  std::unique_ptr<Impl> impl_;
};

// Every resource of the control plane that the reconciler looks up has to be named by Watches, Owns
// or Reads: the workers start only once its informer has synced, so that what is missing from the
// cache does not exist. A reconcile that reads anything else fails (ReadScope).
class ControllerBuilder {
 public:
  // REQUIRES: the manager outlives the builder and what it builds.
  explicit ControllerBuilder(Manager& manager);
  ControllerBuilder& Named(std::string name);
  // Events of the resource (of an informer) are queued.
  ControllerBuilder& Watches(const Resource& resource, Enqueue enqueue = {});
  ControllerBuilder& Watches(std::shared_ptr<Informer> informer, Enqueue enqueue = {});
  // Events of the resource queue the object of kind `owner` that controls it (ownerReferences with
  // controller=true), in the same namespace if `owner` is a namespaced resource.
  ControllerBuilder& Owns(const Resource& resource, const Resource& owner, Predicates when = {});
  // The reconciler also reads kinds that users choose (WatchedKinds), which cannot be named here.
  // Its reads are not checked.
  ControllerBuilder& ReadsWatchedKinds();
  // The reconciler reads the resource; its events queue nothing.
  ControllerBuilder& Reads(const Resource& resource);
  // The reconciler reads the resource by an index, which is added unless it is there.
  ControllerBuilder& Reads(const Resource& resource, const std::string& index, IndexFn fn);
  ControllerBuilder& WithWorkers(int workers);
  ControllerBuilder& WithLimiter(RateLimiterOptions limiter);
  // Requests for which `of` gives the same name (that of a member) hold only some of the workers at
  // once, see LaneOptions.
  ControllerBuilder& WithLanes(std::function<std::string(const Request&)> of);
  // Events flow into the queue, what is there already first, and workers start when the manager
  // runs the controller (on the leader). The controller belongs to the manager; the reference lives
  // as long as it.
  Controller& Build(std::unique_ptr<Reconciler> reconciler);

 private:
  struct Source {
    std::shared_ptr<Informer> informer;
    Enqueue enqueue;
  };
  Manager& manager_;
  Controller::Options options_;
  std::function<std::string(const Request&)> lane_of_;
  std::vector<Source> sources_;
  std::vector<std::shared_ptr<Informer>> read_;
};

// The handler that Watches attaches; for sources that come and go (members' informers). REQUIRES:
// the queue outlives the handler's registration.
EventHandler EnqueueHandler(WorkQueue& queue, Enqueue enqueue);

}  // namespace kube

#endif  // KUBE_RUNTIME_CONTROLLER_H_
