#include "kube/runtime/controller.h"

#include <algorithm>
#include <exception>
#include <thread>
#include <utility>

#include "absl/base/thread_annotations.h"
#include "absl/synchronization/mutex.h"
#include "base/log.h"
#include "base/status.h"
#include "kube/runtime/internal/reconcile_metrics.h"

namespace kube {
namespace {

std::vector<Request> OwnKey(const Object& object) { return {Request{.key = object.key()}}; }

// One informer's handler, to be taken off again.
struct Registration {
  std::shared_ptr<Informer> informer;
  int64_t handler;
};

}  // namespace

struct Controller::Impl {
  Impl(Options given, std::unique_ptr<Reconciler> reconciler, Manager& manager)
      : options(std::move(given)),
        reconciler(std::move(reconciler)),
        manager(manager),
        metrics(manager.registry(), options.name, options.workers),
        queue({.name = options.name, .limiter = options.limiter, .registry = &manager.registry()},
              manager.clock()) {}

  const Options options;
  const std::unique_ptr<Reconciler> reconciler;
  Manager& manager;
  internal::ReconcileMetrics metrics;
  WorkQueue queue;
  absl::Mutex mu;
  std::vector<std::shared_ptr<Informer>> awaited ABSL_GUARDED_BY(mu);
  std::vector<Registration> registrations ABSL_GUARDED_BY(mu);

  absl::Status AwaitCaches(const base::StopToken& stop);
  void Work(const base::StopToken& stop);
  void Process(const WorkQueue::Taken& taken, const base::StopToken& stop);
  absl::StatusOr<Action> Reconcile(const Request& request);
  void HandleError(const WorkQueue::Taken& taken, const absl::Status& error, bool stopping);
  void HandleAction(const WorkQueue::Taken& taken, const Action& action);
};

absl::Status Controller::Impl::AwaitCaches(const base::StopToken& stop) {
  std::vector<std::shared_ptr<Informer>> informers;
  {
    absl::MutexLock lock(&mu);
    informers = awaited;
  }
  const absl::Time deadline = manager.clock().Now() + manager.options().cache_sync_timeout;
  for (const std::shared_ptr<Informer>& informer : informers) {
    RETURN_IF_ERROR(informer->WaitForSync(deadline, stop));
  }
  return absl::OkStatus();
}

void Controller::Impl::Work(const base::StopToken& stop) {
  while (std::optional<WorkQueue::Taken> taken = queue.Get()) {
    // After a stop what is still queued stays undone: the next start finds it again.
    if (!stop.stop_requested()) Process(*taken, stop);
    queue.Done(taken->request);
  }
}

void Controller::Impl::Process(const WorkQueue::Taken& taken, const base::StopToken& stop) {
  metrics.active_workers.Add(1);
  const absl::Time started = manager.clock().Now();
  const absl::StatusOr<Action> result = Reconcile(taken.request);
  metrics.time.Observe(absl::ToDoubleSeconds(manager.clock().Now() - started));
  metrics.active_workers.Add(-1);
  if (result.ok()) {
    HandleAction(taken, *result);
  } else {
    HandleError(taken, result.status(), stop.stop_requested());
  }
}

// The loops themselves do not throw; what a library lets through must not take the process down.
absl::StatusOr<Action> Controller::Impl::Reconcile(const Request& request) {
  try {
    return reconciler->Reconcile(request, manager.abort_token());
  } catch (const std::exception& e) {
    metrics.panics.Increment();
    return absl::InternalError(absl::StrCat("exception: ", e.what()));
  } catch (...) {
    metrics.panics.Increment();
    return absl::InternalError("exception of an unknown type");
  }
}

void Controller::Impl::HandleError(const WorkQueue::Taken& taken, const absl::Status& error,
                                   bool stopping) {
  if (absl::IsCancelled(error) && (stopping || manager.abort_token().stop_requested())) return;
  if (absl::IsAborted(error) && !IsTerminal(error)) {
    metrics.requeue.Increment();
    queue.AddRateLimited(taken.request, taken.priority);
    return;
  }
  metrics.error.Increment();
  metrics.errors.Increment();
  if (IsTerminal(error)) {
    metrics.terminal_errors.Increment();
    queue.Forget(taken.request);
  } else {
    queue.AddRateLimited(taken.request, taken.priority);
  }
  base::LogError("reconcile failed", {{"controller", options.name},
                                      {"request", taken.request.ToString()},
                                      {"retry", IsTerminal(error) ? "no" : "yes"},
                                      {"error", error}});
}

void Controller::Impl::HandleAction(const WorkQueue::Taken& taken, const Action& action) {
  switch (action.kind()) {
    case Action::Kind::kDone:
      metrics.success.Increment();
      queue.Forget(taken.request);
      return;
    case Action::Kind::kAfter:
      metrics.requeue_after.Increment();
      queue.Forget(taken.request);
      queue.AddAfter(taken.request, action.delay(), taken.priority);
      return;
    case Action::Kind::kRequeue:
      metrics.requeue.Increment();
      queue.AddRateLimited(taken.request, taken.priority);
      return;
  }
}

Controller::Controller(Options options, std::unique_ptr<Reconciler> reconciler, Manager& manager)
    : impl_(std::make_unique<Impl>(std::move(options), std::move(reconciler), manager)) {}

Controller::~Controller() {
  std::vector<Registration> registrations;
  {
    absl::MutexLock lock(&impl_->mu);
    registrations.swap(impl_->registrations);
  }
  for (const Registration& r : registrations) r.informer->RemoveHandler(r.handler);
}

WorkQueue& Controller::queue() { return impl_->queue; }

std::string Controller::name() const { return impl_->options.name; }

void Controller::UpdateMetrics() { impl_->queue.UpdateMetrics(); }

void Controller::WaitFor(std::shared_ptr<Informer> informer) {
  absl::MutexLock lock(&impl_->mu);
  impl_->awaited.push_back(std::move(informer));
}

void Controller::Watch(std::shared_ptr<Informer> informer, Predicates predicates, MapFn map) {
  WaitFor(informer);
  const int64_t handler =
      informer->AddHandler(EnqueueHandler(impl_->queue, std::move(predicates), std::move(map)));
  absl::MutexLock lock(&impl_->mu);
  impl_->registrations.push_back({std::move(informer), handler});
}

absl::Status Controller::Run(const base::StopToken& stop) {
  const absl::Status synced = impl_->AwaitCaches(stop);
  if (!synced.ok()) {
    if (stop.stop_requested()) return absl::OkStatus();
    return base::Annotate(synced, "starting ", name());
  }
  // Ends the waiting in Get. The run's own thread is one of the workers.
  base::StopCallback wake(stop, [this] { impl_->queue.ShutDown(); });
  std::vector<std::thread> workers;
  for (int i = 1; i < impl_->options.workers; ++i) {
    workers.emplace_back([this, &stop] { impl_->Work(stop); });
  }
  impl_->Work(stop);
  for (std::thread& worker : workers) worker.join();
  return absl::OkStatus();
}

bool GenerationChanged(const Object& before, const Object& after) {
  return before.generation() != after.generation();
}

bool ResourceVersionChanged(const Object& before, const Object& after) {
  return before.resource_version() != after.resource_version();
}

bool Never(const Object&) { return false; }
bool NeverUpdate(const Object&, const Object&) { return false; }

EventHandler EnqueueHandler(WorkQueue& queue, Predicates predicates, MapFn map) {
  const bool by_own_key = !map;
  if (by_own_key) map = OwnKey;
  const auto enqueue = [&queue, map](const Object& object, int priority) {
    for (const Request& request : map(object)) queue.Add(request, priority);
  };
  EventHandler handler;
  handler.on_add = [enqueue, add = std::move(predicates.add)](const ObjectPtr& object,
                                                              bool initial) {
    if (add && !add(*object)) return;
    enqueue(*object, initial ? kInitialListPriority : kNormalPriority);
  };
  handler.on_update = [enqueue, by_own_key, update = std::move(predicates.update)](
                          const ObjectPtr& before, const ObjectPtr& after) {
    if (update && !update(*before, *after)) return;
    if (!by_own_key) enqueue(*before, kNormalPriority);
    enqueue(*after, kNormalPriority);
  };
  handler.on_delete = [enqueue, remove = std::move(predicates.remove)](const ObjectPtr& last) {
    if (remove && !remove(*last)) return;
    enqueue(*last, kNormalPriority);
  };
  return handler;
}

ControllerBuilder::ControllerBuilder(Manager& manager) : manager_(manager) {}

ControllerBuilder& ControllerBuilder::Named(std::string name) {
  options_.name = std::move(name);
  return *this;
}

ControllerBuilder& ControllerBuilder::Watches(std::shared_ptr<Informer> informer,
                                              Predicates predicates, MapFn map) {
  sources_.push_back({std::move(informer), std::move(predicates), std::move(map)});
  return *this;
}

ControllerBuilder& ControllerBuilder::WithWorkers(int workers) {
  options_.workers = workers;
  return *this;
}

ControllerBuilder& ControllerBuilder::WithLimiter(RateLimiterOptions limiter) {
  options_.limiter = limiter;
  return *this;
}

Controller& ControllerBuilder::Build(std::unique_ptr<Reconciler> reconciler) {
  auto controller = std::make_unique<Controller>(options_, std::move(reconciler), manager_);
  Controller& built = *controller;
  for (Source& source : sources_) {
    built.Watch(std::move(source.informer), std::move(source.predicates), std::move(source.map));
  }
  manager_.Add(std::move(controller));
  return built;
}

}  // namespace kube
