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
#include "kube/runtime/enqueue.h"
#include "kube/runtime/manager.h"
#include "kube/runtime/reconciler.h"
#include "kube/runtime/work_queue.h"

namespace kube {

// After a reconcile, an Action has the effect that it names; an error is counted, requeued with
// back-off and logged (errors that are alike are logged once in five minutes, with their count);
// kAborted (a write conflict) is requeued silently, unless the passes over the item have met
// Outcomes::kSilentConflicts conflicts in a row already; a Terminal error is logged and counted
// only; kCancelled while stopping is dropped; an exception counts as a panic and as an error.
// Re-queues keep the item's priority.
//
// After Action::Gone, what the loop remembers of the request's outcomes is forgotten. Two requests
// that differ in their reason only are one for this.
//
// A key whose last pass failed, in whatever way, is in WorkQueue::failing() until a pass over it
// does not fail. When an object is removed and the predicates keep that from the queue, its keys
// are queued if they are failing, so that they do not stay there.
//
// A stop lets running reconciles finish: they are given the manager's abort_token(), not the stop.
//
// It works on the threads of the manager's pool, which carry its name meanwhile: on as many at once
// as it has workers, and on LaneOptions::kSpareThreads more while servers are slow.
class Controller : public PooledRunnable {
 public:
  struct Options {
    std::string name;  // The label `controller` of the metrics.
    int workers = 1;
    RateLimiterOptions limiter;
    LaneOptions lanes;
    bool checks_reads = true;  // False: see ControllerBuilder::ReadsWatchedKinds.
  };
  // REQUIRES: the manager outlives the controller.
  Controller(Options options, std::unique_ptr<Reconciler> reconciler, Manager& manager);
  // Removes its handlers from the informers.
  ~Controller() override;

  // Thread-safe.
  WorkQueue& queue();
  // Connects the queue to the informers; objects that exist already are queued first.
  void Prepare() override;
  // Waits for the informers to sync, then works until stopped, and ends when the current items are
  // finished. kDeadlineExceeded names the resource that did not sync within cache_sync_timeout, and
  // the reason. No thread is held for the waiting. Call it once.
  void RunOn(WorkerPool& pool, const base::StopToken& stop, Ended ended) override;
  // The same on the manager's pool, for a caller that waits for the end.
  absl::Status Run(const base::StopToken& stop) override;
  std::string name() const override;
  void UpdateMetrics() override;
  bool IsIdle() const override;
  const FailingKeys* failing() const override;
  // Keeps something alive that feeds the queue beside informers, or that the reconciler refers to.
  // What was kept last is destroyed first, all of it before the queue.
  void Keep(std::shared_ptr<void> kept);

 private:
  friend class ControllerBuilder;
  // The workers start only once this informer has synced. REQUIRES: called before Run.
  void Await(std::shared_ptr<Informer> informer);
  // As Await; also events of the informer are queued from Prepare on.
  void Watch(std::shared_ptr<Informer> informer, Enqueue enqueue);

  struct Impl;
  std::unique_ptr<Impl> impl_;
};

// Every resource of the control plane that the reconciler looks up has to be named by Watches, Owns
// or Reads: the workers start only once its informer has synced, so that an object which is missing
// from the cache does not exist. A reconcile that reads any other resource from the cache (Find,
// List or ByIndex of ClusterClient) fails (ReadScope). Get, which may ask the server, is not
// checked.
class ControllerBuilder {
 public:
  // REQUIRES: the manager outlives the builder and what it builds.
  explicit ControllerBuilder(Manager& manager);
  ControllerBuilder& Named(std::string name);
  // Events of the resource are queued as `enqueue` determines.
  ControllerBuilder& Watches(const Resource& resource, Enqueue enqueue = {});
  ControllerBuilder& Watches(std::shared_ptr<Informer> informer, Enqueue enqueue = {});
  // An event of an object of the resource queues its controlling owner (ownerReferences with
  // controller=true) if that is of kind `owner`, in the same namespace if `owner` is a namespaced
  // resource. `enqueue` determines the rest.
  ControllerBuilder& Owns(const Resource& resource, const Resource& owner, Enqueue enqueue = {});
  // The reconciler also reads kinds that users choose (WatchedKinds), which cannot be named here.
  // Its reads are not checked.
  ControllerBuilder& ReadsWatchedKinds();
  // The reconciler reads the resource; its events queue nothing.
  ControllerBuilder& Reads(const Resource& resource);
  // The reconciler reads the resource by an index, which is added unless it exists.
  ControllerBuilder& Reads(const Resource& resource, const std::string& index, IndexFn fn);
  ControllerBuilder& WithWorkers(int workers);
  ControllerBuilder& WithLimiter(RateLimiterOptions limiter);
  // Requests for which `of` returns the same name (that of a member) hold only some of the workers
  // at once, see LaneOptions.
  ControllerBuilder& WithLanes(std::function<std::string(const Request&)> of);
  // Creates the controller. When the manager runs it (on the leader), the informers' objects are
  // queued, then their events, and the workers start. The controller belongs to the manager; the
  // reference is valid as long as the manager exists.
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

}  // namespace kube

#endif  // KUBE_RUNTIME_CONTROLLER_H_
