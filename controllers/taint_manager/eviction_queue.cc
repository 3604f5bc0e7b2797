// Each worker is a thread that takes a request, looks at it, gives it back, and, if a binding was
// evicted, rests before it takes the next one. A request that fails is queued again with back-off,
// and so is one whose binding is tolerated for some more time, after that time. The pace is why
// these are not the workers of a kube::Controller: those never wait.
//
// The queue may be lost at any moment: the loop over clusters fills it again from the taints and
// the bindings every ten seconds, and each look decides by what is there then. What is known of the
// waiting requests is counted, and keeps those passes from changing when a request is looked at:
// one that is due needs nothing, and one that has failed waits for its back-off, for its binding to
// change, or for a minute: the cause may be the server's, and have gone without any change here.

#include "controllers/taint_manager/eviction_queue.h"

#include <algorithm>
#include <exception>
#include <utility>

#include "absl/strings/str_cat.h"
#include "base/log.h"
#include "kube/client/errors.h"

namespace controllers {
namespace {

// The back-off of a request that has failed often is longer than this.
constexpr absl::Duration kLongestRetry = absl::Minutes(1);

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
  bool IsIdle() const override { return queue_->IsIdle(); }
  const kube::FailingKeys* failing() const override {
    return number_ == 1 ? &queue_->failing() : nullptr;
  }

 private:
  const std::shared_ptr<EvictionQueue> queue_;
  const int number_;
};

}  // namespace

EvictionQueue::EvictionQueue(std::string name, std::string kind, const Context& context,
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

metrics::Gauge& EvictionQueue::GaugeOf(const std::string& cluster) {
  return manager_.registry().GetGauge("eviction_kind_total",
                                      "Bindings that wait for their eviction from a cluster.",
                                      {{"member_cluster", cluster}, {"resource_kind", kind_}});
}

EvictionQueue::Waiting* EvictionQueue::Find(const kube::Request& request) {
  const auto cluster = waiting_.find(request.cluster);
  if (cluster == waiting_.end()) return nullptr;
  const auto found = cluster->second.find(request.key);
  return found == cluster->second.end() ? nullptr : &found->second;
}

void EvictionQueue::Add(const kube::Request& request, absl::Duration after, int64_t version) {
  const base::SteadyTime due = manager_.clock().SteadyNow() + after;
  {
    absl::MutexLock lock(&mu_);
    OfCluster& cluster = waiting_[request.cluster];
    const auto [it, added] = cluster.try_emplace(request.key, Waiting{due, version});
    if (added) GaugeOf(request.cluster).Set(static_cast<double>(cluster.size()));
    Waiting& waiting = it->second;
    if (!added && IsSettled(waiting, version)) return;
    // A later taint cannot lengthen a toleration that ends earlier for another one.
    waiting.due = std::min(waiting.due, due);
    waiting.version = version;
    // Its next look is queued, so no other pass has to do that for another minute.
    if (waiting.has_failed) waiting.retry = manager_.clock().SteadyNow() + kLongestRetry;
  }
  if (after > absl::ZeroDuration()) {
    queue_.AddAfter(request, after);
  } else {
    queue_.Add(request);
  }
}

bool EvictionQueue::IsSettled(const kube::Request& request, int64_t version) {
  absl::MutexLock lock(&mu_);
  const Waiting* waiting = Find(request);
  return waiting != nullptr && IsSettled(*waiting, version);
}

void EvictionQueue::Left(const kube::Request& request) {
  absl::MutexLock lock(&mu_);
  const auto cluster = waiting_.find(request.cluster);
  if (cluster == waiting_.end() || cluster->second.erase(request.key) == 0) return;
  GaugeOf(request.cluster).Set(static_cast<double>(cluster->second.size()));
  if (cluster->second.empty()) waiting_.erase(cluster);
}

void EvictionQueue::Failed(const kube::Request& request) {
  absl::MutexLock lock(&mu_);
  Waiting* waiting = Find(request);
  if (waiting == nullptr) return;
  waiting->has_failed = true;
  waiting->retry = manager_.clock().SteadyNow() + kLongestRetry;
}

void EvictionQueue::Tolerated(const kube::Request& request, absl::Duration stay) {
  absl::MutexLock lock(&mu_);
  Waiting* waiting = Find(request);
  if (waiting == nullptr) return;
  waiting->due = manager_.clock().SteadyNow() + stay;
  waiting->has_failed = false;
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
  outcomes_.Forget(request);
  if (outcome->again == absl::InfiniteDuration()) {
    Left(request);
  } else {
    Tolerated(request, outcome->again);
    queue_.AddAfter(request, outcome->again, taken.priority);
  }
  return outcome->evicted;
}

void EvictionQueue::Fail(const kube::WorkQueue::Taken& taken, const absl::Status& error) {
  const bool silent = kube::IsConflict(outcomes_.Judge(taken.request, "", error));
  Failed(taken.request);
  queue_.failing().Note(taken.request, error);
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
