// A controller goes through three steps. Prepare adds a handler to each watched informer, so that
// what the informer holds is queued first. RunOn then joins the pool, and a run (ControllerRun)
// begins. It has nothing to offer, with one deadline for all of them, until every informer that is
// watched or read has synced: each is asked to wake the run, one after the other, and no thread
// waits. When one has not synced, and no page of its list has come for as long, the run fails,
// which ends the manager. From then on the run offers what the queue has until a stop shuts that
// down. Requests that are still queued at that moment are dropped, because the next start lists all
// objects again.
//
// A turn of a worker calls Reconcile inside a ReadScope and turns exceptions into errors. The
// outcome decides what the queue does: it forgets the back-off of the request, or adds the request
// again after a fixed time or after its back-off. The queue guarantees that two workers never hold
// equal requests, so nothing here is locked during a turn. Between turns only the back-offs, the
// conflicts in a row, the outcomes of the loop and the log of repeated errors are remembered, and
// all of it may be lost. When a turn ends with Action::Gone, what is remembered of its request is
// forgotten.

#include "kube/runtime/controller.h"

#include <algorithm>
#include <atomic>
#include <exception>
#include <optional>
#include <utility>

#include "absl/base/thread_annotations.h"
#include "absl/strings/str_cat.h"
#include "absl/synchronization/mutex.h"
#include "base/log.h"
#include "base/repeated_errors.h"
#include "base/status.h"
#include "base/verbosity.h"
#include "kube/cache/read_scope.h"
#include "kube/client/errors.h"
#include "kube/runtime/handler_registration.h"
#include "kube/runtime/internal/cache_gate.h"
#include "kube/runtime/internal/reconcile_metrics.h"
#include "kube/runtime/worker_pool.h"

namespace kube {
namespace {

// At this level each pass is logged.
constexpr int kPassLevel = 4;

std::string OutcomeOf(const absl::StatusOr<Action>& result) {
  if (!result.ok()) return IsConflict(result.status()) ? "conflict" : "error";
  if (result->kind() == Action::Kind::kDone) return "done";
  return absl::StrCat("again after ", absl::FormatDuration(result->delay()));
}

}  // namespace

struct Controller::Impl {
  Impl(Options given, std::unique_ptr<Reconciler> reconciler, Manager& manager)
      : options(std::move(given)),
        reconciler(std::move(reconciler)),
        manager(manager),
        metrics(manager.registry(), options.name, options.workers),
        queue({.name = options.name,
               .limiter = options.limiter,
               .registry = &manager.registry(),
               .lanes = options.lanes},
              manager.clock()) {}

  const Options options;
  const std::unique_ptr<Reconciler> reconciler;
  Manager& manager;
  internal::ReconcileMetrics metrics;
  WorkQueue queue;
  Outcomes passes;  // Of whole passes, by reasons; those of what they try are the reconciler's.
  base::RepeatedErrors failures;
  std::vector<const Informer*> declared;  // Set before the workers start.
  absl::Mutex mu;
  std::vector<std::shared_ptr<Informer>> awaited ABSL_GUARDED_BY(mu);
  std::vector<std::pair<std::shared_ptr<Informer>, Enqueue>> sources ABSL_GUARDED_BY(mu);
  std::vector<HandlerRegistration> registrations ABSL_GUARDED_BY(mu);
  std::vector<std::shared_ptr<void>> kept ABSL_GUARDED_BY(mu);

  class ControllerRun;
  std::unique_ptr<ControllerRun> run;  // From RunOn to its end.

  void ConnectSources();
  std::vector<std::shared_ptr<Informer>> Awaited() {
    absl::MutexLock lock(&mu);
    return awaited;
  }
  void Process(const WorkQueue::Taken& taken, const base::StopToken& stop);
  absl::StatusOr<Action> Reconcile(const Request& request);
  void HandleError(const WorkQueue::Taken& taken, const absl::Status& error, bool stopping);
  void LogFailure(const Request& request, const absl::Status& error);
  void HandleAction(const WorkQueue::Taken& taken, const Action& action);
};

// Runs when the workers start: on a stand-by nobody would take out what the handlers put into the
// queue. The handlers get the objects that exist by then as adds.
void Controller::Impl::ConnectSources() {
  std::vector<std::pair<std::shared_ptr<Informer>, Enqueue>> connecting;
  {
    absl::MutexLock lock(&mu);
    connecting.swap(sources);
  }
  for (auto& [informer, enqueue] : connecting) {
    // Existing objects are replayed here, so the lock is not held.
    HandlerRegistration registration(std::move(informer),
                                     EnqueueHandler(queue, std::move(enqueue)));
    absl::MutexLock lock(&mu);
    registrations.push_back(std::move(registration));
  }
}

// One run of a controller: what it offers to the threads of a pool.
class Controller::Impl::ControllerRun : public PoolWork {
 public:
  ControllerRun(Impl& impl, const base::StopToken& stop, PooledRunnable::Ended ended)
      : impl_(impl),
        stop_(stop),
        ended_(std::move(ended)),
        gate_(impl.options.name, impl.Awaited(), impl.manager) {}

  // As many as work, and those that wait for slow servers.
  static int MostThreads(const Options& options) {
    return options.workers + (options.lanes.of ? options.lanes.max_held_slow : 0);
  }

  // Nothing is offered before the last line, so that it cannot end meanwhile.
  void Begin(const WorkerPool::MemberPtr& member) {
    wake_ = [member] { member->Wake(); };
    impl_.queue.TellWhenDue(wake_);
    // Requests that wait for a time are dropped at once; the others when a thread takes them.
    on_stop_.emplace(stop_, StopFn{*this});
    {
      absl::MutexLock lock(&mu_);
      state_ = State::kAwaitsCaches;
    }
    member->Wake();
  }

  std::string name() const override { return impl_.options.name; }

  WorkQueue::Offer Take(const std::optional<Request>& done) override {
    if (!works_ && !Open()) return NotOpen();
    return impl_.queue.Take(done);
  }

  void Work(const WorkQueue::Taken& taken) override {
    // After a stop, requests that are still queued are not worked on: the next start queues them
    // again.
    if (!stop_.stop_requested()) impl_.Process(taken, stop_);
  }

  void GiveBack(const Request& done) override { impl_.queue.Done(done); }

  void Ended() override {
    impl_.queue.TellWhenDue(nullptr);
    on_stop_.reset();
    const PooledRunnable::Ended ended = std::move(ended_);
    absl::Status result;
    {
      absl::MutexLock lock(&mu_);
      result = result_;
    }
    impl_.run.reset();
    ended(result);
  }

 private:
  enum class State { kBegins, kAwaitsCaches, kWorks, kFailed };
  struct StopFn {
    ControllerRun& run;
    void operator()() const {
      run.impl_.queue.ShutDown();
      run.wake_();
    }
  };

  // Returns whether the caches have synced.
  bool Open() ABSL_LOCKS_EXCLUDED(mu_) {
    absl::MutexLock lock(&mu_);
    if (state_ != State::kAwaitsCaches) return state_ == State::kWorks;
    const absl::Status synced = gate_.Ask(wake_, stop_);
    if (absl::IsUnavailable(synced) && !stop_.stop_requested()) return false;
    if (!synced.ok()) {
      state_ = State::kFailed;
      if (!stop_.stop_requested()) result_ = base::Annotate(synced, "starting ", name());
      return false;
    }
    for (const auto& informer : impl_.Awaited()) impl_.declared.push_back(informer.get());
    state_ = State::kWorks;
    works_ = true;
    return true;
  }

  WorkQueue::Offer NotOpen() ABSL_LOCKS_EXCLUDED(mu_) {
    absl::MutexLock lock(&mu_);
    if (state_ == State::kFailed) return {.is_over = true};
    if (state_ == State::kBegins) return {};
    // It may have been opened meanwhile; then the other thread's offer counts.
    return {.next = state_ == State::kWorks ? base::SteadyTime::InfiniteFuture() : gate_.next()};
  }

  Impl& impl_;
  const base::StopToken stop_;
  PooledRunnable::Ended ended_;
  std::function<void()> wake_;       // Set before anything is offered.
  std::atomic<bool> works_ = false;  // Set once the caches have synced.
  absl::Mutex mu_;
  State state_ ABSL_GUARDED_BY(mu_) = State::kBegins;
  internal::CacheGate gate_ ABSL_GUARDED_BY(mu_);
  absl::Status result_ ABSL_GUARDED_BY(mu_);
  std::optional<base::StopCallback<StopFn>> on_stop_;
};

void Controller::Impl::Process(const WorkQueue::Taken& taken, const base::StopToken& stop) {
  metrics.active_workers.Add(1);
  const base::SteadyTime started = manager.clock().SteadyNow();
  const absl::StatusOr<Action> result = Reconcile(taken.request);
  const absl::Duration took = manager.clock().SteadyNow() - started;
  metrics.time.Observe(absl::ToDoubleSeconds(took));
  metrics.active_workers.Add(-1);
  if (base::VlogOnFor(options.name, kPassLevel)) {
    base::LogInfo("reconciled", {{"controller", options.name},
                                 {"request", taken.request.Describe()},
                                 {"took", absl::FormatDuration(took)},
                                 {"outcome", OutcomeOf(result)}});
  }
  if (result.ok()) {
    HandleAction(taken, *result);
  } else {
    HandleError(taken, result.status(), stop.stop_requested());
  }
}

// The loops themselves do not throw; an exception that a library lets through must not end the
// process.
absl::StatusOr<Action> Controller::Impl::Reconcile(const Request& request) {
  try {
    const ReadScope scope(manager.cluster(), declared);
    absl::StatusOr<Action> result = reconciler->Reconcile(request, manager.abort_token());
    if (options.checks_reads) RETURN_IF_ERROR(scope.status());
    return result;
  } catch (const std::exception& e) {
    metrics.panics.Increment();
    return absl::InternalError(absl::StrCat("exception: ", e.what()));
  } catch (...) {
    metrics.panics.Increment();
    return absl::InternalError("exception of an unknown type");
  }
}

// What is counted has happened: whoever sees a count finds the queue as the pass has left it.
void Controller::Impl::HandleError(const WorkQueue::Taken& taken, const absl::Status& error,
                                   bool stopping) {
  if (absl::IsCancelled(error) && (stopping || manager.abort_token().stop_requested())) return;
  if (base::IsTerminal(error)) queue.Forget(taken.request);
  queue.failing().Note(taken.request, error);
  // An ordinary conflict ends with the next pass or the one after it; others have to be reported to
  // the user.
  const absl::string_view reason = taken.request.reason.name();
  if (!base::IsTerminal(error) && IsConflict(passes.Judge(taken.request, reason, error))) {
    queue.AddRateLimited(taken.request, taken.priority);
    metrics.requeue.Increment();
    return;
  }
  if (!base::IsTerminal(error)) queue.AddRateLimited(taken.request, taken.priority);
  metrics.error.Increment();
  metrics.errors.Increment();
  if (base::IsTerminal(error)) metrics.terminal_errors.Increment();
  LogFailure(taken.request, error);
}

// Errors that are alike are logged together: a queue that retries, or a server that is gone, would
// repeat the same line.
void Controller::Impl::LogFailure(const Request& request, const absl::Status& error) {
  const std::string kind = base::KindOfMessage(error.ToString(), request.key.name);
  const base::RepeatedErrors::Verdict verdict = failures.Note(kind, manager.clock().SteadyNow());
  if (!verdict.log && !base::VlogOnFor(options.name, kPassLevel)) return;
  const std::string more = verdict.More();
  base::LogError(more.empty() ? "reconcile failed" : absl::StrCat("reconcile failed, ", more),
                 {{"controller", options.name},
                  {"request", request.Describe()},
                  {"retry", base::IsTerminal(error) ? "no" : "yes"},
                  {"error", error}});
}

void Controller::Impl::HandleAction(const WorkQueue::Taken& taken, const Action& action) {
  passes.Forget(taken.request, taken.request.reason.name());
  if (action.is_gone()) reconciler->outcomes().Forget(taken.request);
  switch (action.kind()) {
    case Action::Kind::kDone:
      queue.Forget(taken.request);
      metrics.success.Increment();
      return;
    case Action::Kind::kAfter:
      queue.Forget(taken.request);
      queue.AddAfter(taken.request, action.delay(), taken.priority);
      metrics.requeue_after.Increment();
      return;
  }
}

Controller::Controller(Options options, std::unique_ptr<Reconciler> reconciler, Manager& manager)
    : impl_(std::make_unique<Impl>(std::move(options), std::move(reconciler), manager)) {}

Controller::~Controller() {
  std::vector<HandlerRegistration> registrations;
  std::vector<std::shared_ptr<void>> kept;
  {
    absl::MutexLock lock(&impl_->mu);
    registrations.swap(impl_->registrations);
    kept.swap(impl_->kept);
  }
  while (!kept.empty()) kept.pop_back();
}

void Controller::Keep(std::shared_ptr<void> kept) {
  absl::MutexLock lock(&impl_->mu);
  impl_->kept.push_back(std::move(kept));
}

WorkQueue& Controller::queue() { return impl_->queue; }

std::string Controller::name() const { return impl_->options.name; }

void Controller::UpdateMetrics() { impl_->queue.UpdateMetrics(); }

bool Controller::IsIdle() const { return impl_->queue.Idle(); }
const FailingKeys* Controller::failing() const { return &impl_->queue.failing(); }

void Controller::Await(std::shared_ptr<Informer> informer) {
  absl::MutexLock lock(&impl_->mu);
  impl_->awaited.push_back(std::move(informer));
}

void Controller::Watch(std::shared_ptr<Informer> informer, Enqueue enqueue) {
  Await(informer);
  absl::MutexLock lock(&impl_->mu);
  impl_->sources.emplace_back(std::move(informer), std::move(enqueue));
}

void Controller::Prepare() { impl_->ConnectSources(); }

void Controller::RunOn(WorkerPool& pool, const base::StopToken& stop, Ended ended) {
  using ControllerRun = Impl::ControllerRun;
  impl_->run = std::make_unique<ControllerRun>(*impl_, stop, ended);
  ControllerRun& run = *impl_->run;
  const auto member = pool.Join(run, ControllerRun::MostThreads(impl_->options));
  if (member.ok()) {
    run.Begin(*member);
  } else {
    impl_->run.reset();
    ended(base::Annotate(member.status(), "starting ", name()));
  }
}

absl::Status Controller::Run(const base::StopToken& stop) {
  absl::Mutex mu;
  std::optional<absl::Status> result;
  RunOn(impl_->manager.pool(), stop, [&](const absl::Status& status) {
    absl::MutexLock lock(&mu);
    result = status;
  });
  const auto has_ended = [&] { return result.has_value(); };
  absl::MutexLock lock(&mu, absl::Condition(&has_ended));
  return *result;
}

ControllerBuilder::ControllerBuilder(Manager& manager) : manager_(manager) {}

ControllerBuilder& ControllerBuilder::Named(std::string name) {
  options_.name = std::move(name);
  return *this;
}

ControllerBuilder& ControllerBuilder::Watches(const Resource& resource, Enqueue enqueue) {
  return Watches(manager_.cluster().informers().Get(resource), std::move(enqueue));
}

ControllerBuilder& ControllerBuilder::Watches(std::shared_ptr<Informer> informer, Enqueue enqueue) {
  sources_.push_back({std::move(informer), std::move(enqueue)});
  return *this;
}

ControllerBuilder& ControllerBuilder::Owns(const Resource& resource, const Resource& owner,
                                           Enqueue enqueue) {
  enqueue.map = [gvk = owner.gvk, namespaced = owner.namespaced](const Object& object) {
    const OwnerRef ref = object.ControllerOwner();
    const absl::StatusOr<Gvk> kind = ParseGvk(ref.api_version, ref.kind);
    std::vector<Request> requests;
    if (!kind.ok() || kind->group != gvk.group || kind->kind != gvk.kind) return requests;
    requests.push_back({.key = {namespaced ? std::string(object.ns()) : "", ref.name}});
    return requests;
  };
  return Watches(resource, std::move(enqueue));
}

ControllerBuilder& ControllerBuilder::ReadsWatchedKinds() {
  options_.checks_reads = false;
  return *this;
}

ControllerBuilder& ControllerBuilder::Reads(const Resource& resource) {
  read_.push_back(manager_.cluster().informers().Get(resource));
  return *this;
}

ControllerBuilder& ControllerBuilder::Reads(const Resource& resource, const std::string& index,
                                            IndexFn fn) {
  Reads(resource);
  read_.back()->AddIndex(index, std::move(fn));
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

ControllerBuilder& ControllerBuilder::WithLanes(std::function<std::string(const Request&)> of) {
  lane_of_ = std::move(of);
  return *this;
}

Controller& ControllerBuilder::Build(std::unique_ptr<Reconciler> reconciler) {
  if (lane_of_) options_.lanes = LaneOptions::For(options_.workers, lane_of_);
  auto controller = std::make_unique<Controller>(options_, std::move(reconciler), manager_);
  Controller& built = *controller;
  for (Source& source : sources_) {
    built.Watch(std::move(source.informer), std::move(source.enqueue));
  }
  for (std::shared_ptr<Informer>& informer : read_) built.Await(std::move(informer));
  manager_.Add(std::move(controller));
  return built;
}

}  // namespace kube
