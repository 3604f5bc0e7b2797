// Each worker is a thread that takes a request, looks at it, gives it back, and, if a binding was
// evicted, rests before it takes the next one. A request that fails is queued again with back-off,
// and so is one whose binding is tolerated for some more time, after that time. The pace is why
// these are not the workers of a kube::Controller: those never wait.
//
// The queue may be lost at any moment: the loop over clusters fills it anew from the taints and the
// bindings every ten seconds, and each look decides by what is there then. The set of waiting
// requests is only counted.
#include "controllers/taint_manager/eviction_queue.h"

#include <exception>
#include <utility>

#include "absl/strings/str_cat.h"
#include "base/log.h"
#include "kube/client/errors.h"
#include "kube/runtime/conflict_streak.h"

namespace controllers {
namespace {

constexpr char kTotal[] = "eviction_processing_total";
constexpr char kTotalHelp[] = "Looks at bindings that may have to leave a cluster.";

metrics::Histogram& LatencyOf(metrics::Registry& registry, const std::string& queue) {
  constexpr double kFirst = 0.001;
  constexpr int kBuckets = 15;
  return registry.GetHistogram("eviction_processing_latency_seconds",
                               "How long such a look, with the write of its task, took.",
                               metrics::ExponentialBuckets(kFirst, 2, kBuckets), {{"name", queue}});
}

class EvictionWorker : public kube::Runnable {
 public:
  EvictionWorker(std::shared_ptr<EvictionQueue> queue, int number)
      : queue_(std::move(queue)), number_(number) {}
  std::string name() const override { return absl::StrCat(queue_->name(), " ", number_); }
  absl::Status Run(const base::StopToken& stop) override {
    queue_->Work(stop);
    return absl::OkStatus();
  }
  void UpdateMetrics() override {
    if (number_ == 1) queue_->UpdateMetrics();
  }

 private:
  const std::shared_ptr<EvictionQueue> queue_;
  const int number_;
};

}  // namespace

EvictionQueue::EvictionQueue(std::string name, std::string kind, const loops::Context& context,
                             EvictFn evict)
    : name_(std::move(name)),
      kind_(std::move(kind)),
      manager_(context.manager),
      evict_(std::move(evict)),
      pace_(context.options.taint_eviction.rate, context.options.rate_limits, context.clock()),
      queue_({.name = name_,
              .limiter = context.RateLimiter(),
              .registry = &context.manager.registry(),
              .lanes = {}},
             context.clock()),
      depth_(manager_.registry().GetGauge("eviction_queue_depth",
                                          "Bindings in the queue of evictions, including those "
                                          "whose toleration has not ended.",
                                          {{"name", name_}})),
      latency_(LatencyOf(manager_.registry(), name_)),
      succeeded_(manager_.registry().GetCounter(kTotal, kTotalHelp,
                                                {{"name", name_}, {"result", "success"}})),
      failed_(manager_.registry().GetCounter(kTotal, kTotalHelp,
                                             {{"name", name_}, {"result", "error"}})) {}

metrics::Gauge& EvictionQueue::Waiting(const std::string& cluster) {
  return manager_.registry().GetGauge("eviction_kind_total",
                                      "Bindings that wait for their eviction from a cluster.",
                                      {{"member_cluster", cluster}, {"resource_kind", kind_}});
}

void EvictionQueue::Add(const kube::Request& request, absl::Duration after) {
  {
    absl::MutexLock lock(&mu_);
    if (waiting_.insert(request).second) Waiting(request.cluster).Add(1);
  }
  if (after > absl::ZeroDuration()) {
    queue_.AddAfter(request, after);
  } else {
    queue_.Add(request);
  }
}

bool EvictionQueue::Has(const kube::Request& request) const {
  absl::MutexLock lock(&mu_);
  return waiting_.contains(request);
}

void EvictionQueue::Left(const kube::Request& request) {
  absl::MutexLock lock(&mu_);
  if (waiting_.erase(request) > 0) Waiting(request.cluster).Add(-1);
}

void EvictionQueue::UpdateMetrics() {
  queue_.UpdateMetrics();
  depth_.Set(static_cast<double>(queue_.size()));
}

void EvictionQueue::Work(const base::StopToken& stop) {
  const base::StopCallback wake(stop, [this] { queue_.ShutDown(); });
  while (const std::optional<kube::WorkQueue::Taken> taken = queue_.Get()) {
    // After a stop nothing more is evicted: the next start finds the bindings again.
    const bool evicted = !stop.stop_requested() && Process(*taken, stop);
    queue_.Done(taken->request);
    if (evicted && !manager_.clock().SleepFor(pace_.AfterEviction(), stop)) return;
  }
}

absl::StatusOr<EvictionOutcome> EvictionQueue::Look(const kube::Request& request) {
  try {
    return evict_(request, manager_.abort_token());
  } catch (const std::exception& error) {
    return absl::InternalError(absl::StrCat("exception: ", error.what()));
  }
}

bool EvictionQueue::Process(const kube::WorkQueue::Taken& taken, const base::StopToken& stop) {
  const kube::Request& request = taken.request;
  const base::SteadyTime started = manager_.clock().SteadyNow();
  // A stop lets the write that has begun finish.
  const absl::StatusOr<EvictionOutcome> outcome = Look(request);
  latency_.Observe(absl::ToDoubleSeconds(manager_.clock().SteadyNow() - started));
  if (!outcome.ok()) {
    if (!absl::IsCancelled(outcome.status()) || !stop.stop_requested()) {
      Fail(taken, outcome.status());
    }
    return false;
  }
  succeeded_.Increment();
  queue_.Forget(request);
  if (outcome->again == absl::InfiniteDuration()) {
    Left(request);
  } else {
    queue_.AddAfter(request, outcome->again, taken.priority);
  }
  return outcome->evicted;
}

void EvictionQueue::Fail(const kube::WorkQueue::Taken& taken, const absl::Status& error) {
  const bool silent =
      kube::IsConflict(error) && queue_.Requeues(taken.request) < kube::ConflictStreak::kSilent;
  queue_.AddRateLimited(taken.request, taken.priority);
  if (silent) return;
  failed_.Increment();
  const std::string kind = base::KindOfMessage(error.ToString(), taken.request.key.name);
  const auto verdict = failures_.Note(kind, manager_.clock().SteadyNow());
  if (!verdict.log) return;
  base::LogError("cannot evict a binding from a cluster",
                 {{"queue", name_},
                  {"binding", taken.request.key.ToString()},
                  {"cluster", taken.request.cluster},
                  {"more", verdict.More()},
                  {"error", error}});
}

void AddWorkers(const std::shared_ptr<EvictionQueue>& queue, kube::Manager& manager) {
  for (int number = 1; number <= EvictionQueue::kWorkers; ++number) {
    manager.Add(std::make_unique<EvictionWorker>(queue, number));
  }
}

}  // namespace controllers
