#include "kube/runtime/work_queue.h"

#include <algorithm>
#include <cstdint>
#include <set>
#include <tuple>
#include <utility>

#include "absl/base/thread_annotations.h"
#include "absl/container/flat_hash_map.h"
#include "absl/container/node_hash_map.h"
#include "absl/synchronization/mutex.h"
#include "kube/runtime/internal/queue_metrics.h"
#include "kube/runtime/internal/rate_limiter.h"

namespace kube {
namespace {

// Where an item stands. A blocked one is due but equal to an item being processed.
enum class State { kDelayed, kReady, kBlocked };

struct Entry {
  State state = State::kDelayed;
  int priority = kNormalPriority;
  uint64_t sequence = 0;  // Order of adding; keeps equal priorities fair.
  base::SteadyTime due;   // From then on the item is ready or blocked.
};

using Item = std::pair<const Request, Entry>;

struct ByUrgency {
  bool operator()(const Item* a, const Item* b) const {
    return std::make_tuple(-a->second.priority, a->second.sequence) <
           std::make_tuple(-b->second.priority, b->second.sequence);
  }
};

struct ByDueTime {
  bool operator()(const Item* a, const Item* b) const {
    return std::tie(a->second.due, a->second.sequence) <
           std::tie(b->second.due, b->second.sequence);
  }
};

}  // namespace

struct WorkQueue::Impl {
  Impl(Options options, const base::Clock& clock)
      : clock(clock), limiter(options.limiter), metrics(options.registry, options.name) {}

  const base::Clock& clock;
  mutable absl::Mutex mu;
  internal::RateLimiter limiter ABSL_GUARDED_BY(mu);
  internal::QueueMetrics metrics ABSL_GUARDED_BY(mu);
  // Every item that waits; the sets point into it.
  absl::node_hash_map<Request, Entry> entries ABSL_GUARDED_BY(mu);
  std::set<Item*, ByUrgency> ready ABSL_GUARDED_BY(mu);
  std::set<Item*, ByDueTime> delayed ABSL_GUARDED_BY(mu);
  // What the workers hold, and since when.
  absl::flat_hash_map<Request, base::SteadyTime> processing ABSL_GUARDED_BY(mu);
  uint64_t next_sequence ABSL_GUARDED_BY(mu) = 0;
  bool shut_down ABSL_GUARDED_BY(mu) = false;

  void Add(const Request& request, base::SteadyTime due, int priority)
      ABSL_EXCLUSIVE_LOCKS_REQUIRED(mu);
  void Raise(Item& item, int priority) ABSL_EXCLUSIVE_LOCKS_REQUIRED(mu);
  void BecomeDue(Item& item) ABSL_EXCLUSIVE_LOCKS_REQUIRED(mu);
  void CollectDue() ABSL_EXCLUSIVE_LOCKS_REQUIRED(mu);
  Taken TakeFirst() ABSL_EXCLUSIVE_LOCKS_REQUIRED(mu);
  base::SteadyTime NextDue() const ABSL_SHARED_LOCKS_REQUIRED(mu) {
    return delayed.empty() ? base::SteadyTime::InfiniteFuture() : (*delayed.begin())->second.due;
  }
};

void WorkQueue::Impl::Add(const Request& request, base::SteadyTime due, int priority) {
  if (shut_down) return;
  const base::SteadyTime now = clock.SteadyNow();
  auto [it, added] = entries.try_emplace(request);
  Item& item = *it;
  if (!added) {
    if (priority > item.second.priority) Raise(item, priority);
    if (item.second.state != State::kDelayed || due >= item.second.due) return;
    delayed.erase(&item);
    item.second.due = due;
  } else {
    item.second = {State::kDelayed, priority, next_sequence++, due};
  }
  if (due > now) {
    delayed.insert(&item);
  } else {
    item.second.due = now;
    BecomeDue(item);
  }
}

// Changes the priority of an item that waits, which also is its place in `ready`.
void WorkQueue::Impl::Raise(Item& item, int priority) {
  const bool is_ready = item.second.state == State::kReady;
  if (is_ready) ready.erase(&item);
  if (item.second.state != State::kDelayed) metrics.Raised(item.second.priority, priority);
  item.second.priority = priority;
  if (is_ready) ready.insert(&item);
}

// REQUIRES: the item is in neither set.
void WorkQueue::Impl::BecomeDue(Item& item) {
  metrics.Added(item.second.priority);
  item.second.sequence = next_sequence++;
  if (processing.contains(item.first)) {
    item.second.state = State::kBlocked;
    return;
  }
  item.second.state = State::kReady;
  ready.insert(&item);
}

void WorkQueue::Impl::CollectDue() {
  const base::SteadyTime now = clock.SteadyNow();
  while (NextDue() <= now) {
    Item& item = **delayed.begin();
    delayed.erase(delayed.begin());
    BecomeDue(item);
  }
}

WorkQueue::Taken WorkQueue::Impl::TakeFirst() {
  Item& item = **ready.begin();
  ready.erase(ready.begin());
  Taken taken{item.first, item.second.priority};
  const base::SteadyTime now = clock.SteadyNow();
  metrics.Taken(taken.priority, now - item.second.due);
  processing.emplace(taken.request, now);
  entries.erase(taken.request);
  return taken;
}

WorkQueue::WorkQueue(Options options, const base::Clock& clock)
    : impl_(std::make_unique<Impl>(std::move(options), clock)) {}
WorkQueue::~WorkQueue() = default;

void WorkQueue::Add(const Request& item, int priority) {
  absl::MutexLock lock(&impl_->mu);
  impl_->Add(item, base::SteadyTime::InfinitePast(), priority);
}

void WorkQueue::AddAfter(const Request& item, absl::Duration delay, int priority) {
  absl::MutexLock lock(&impl_->mu);
  if (delay > absl::ZeroDuration()) impl_->metrics.Retried();
  impl_->Add(item, impl_->clock.SteadyNow() + delay, priority);
}

void WorkQueue::AddRateLimited(const Request& item, int priority) {
  absl::MutexLock lock(&impl_->mu);
  if (impl_->shut_down) return;
  const base::SteadyTime now = impl_->clock.SteadyNow();
  impl_->metrics.Retried();
  impl_->Add(item, now + impl_->limiter.Next(item, now), priority);
}

void WorkQueue::Forget(const Request& item) {
  absl::MutexLock lock(&impl_->mu);
  impl_->limiter.Forget(item);
}

int WorkQueue::Requeues(const Request& item) const {
  absl::MutexLock lock(&impl_->mu);
  return impl_->limiter.Failures(item);
}

std::optional<WorkQueue::Taken> WorkQueue::Get() {
  absl::MutexLock lock(&impl_->mu);
  for (;;) {
    impl_->CollectDue();
    if (!impl_->ready.empty()) return impl_->TakeFirst();
    if (impl_->shut_down) return std::nullopt;
    const base::SteadyTime next = impl_->NextDue();
    const auto changed = [&]() ABSL_EXCLUSIVE_LOCKS_REQUIRED(impl_->mu) {
      return impl_->shut_down || !impl_->ready.empty() || impl_->NextDue() < next;
    };
    impl_->clock.AwaitUntil(impl_->mu, absl::Condition(&changed), next);
  }
}

void WorkQueue::Done(const Request& item) {
  absl::MutexLock lock(&impl_->mu);
  const auto started = impl_->processing.find(item);
  if (started == impl_->processing.end()) return;
  impl_->metrics.Worked(impl_->clock.SteadyNow() - started->second);
  impl_->processing.erase(started);
  const auto again = impl_->entries.find(item);
  if (again == impl_->entries.end() || again->second.state != State::kBlocked) return;
  again->second.state = State::kReady;
  impl_->ready.insert(&*again);
}

void WorkQueue::ShutDown() {
  absl::MutexLock lock(&impl_->mu);
  impl_->CollectDue();
  impl_->shut_down = true;
  for (Item* item : std::exchange(impl_->delayed, {})) impl_->entries.erase(Request(item->first));
}

size_t WorkQueue::size() const {
  absl::MutexLock lock(&impl_->mu);
  return impl_->entries.size();
}

bool WorkQueue::Idle() const {
  absl::MutexLock lock(&impl_->mu);
  impl_->CollectDue();
  return impl_->ready.empty() && impl_->processing.empty();
}

void WorkQueue::UpdateMetrics() {
  absl::MutexLock lock(&impl_->mu);
  const base::SteadyTime now = impl_->clock.SteadyNow();
  absl::Duration total, longest;
  for (const auto& [request, started] : impl_->processing) {
    total += now - started;
    longest = std::max(longest, now - started);
  }
  impl_->metrics.InProgress(total, longest);
}

}  // namespace kube
