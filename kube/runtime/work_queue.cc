// How it works. Every known item is one entry of a table. It waits for its time (`delayed`), for a
// worker (`ready`), for a place in its lane (parked, in `lanes`), or until the worker that holds
// an equal item gives that back (blocked). Independently, a worker may hold it. Workers take the
// first of `ready`; when they meet an item whose lane is full it is parked. Giving an item back
// frees a place in its lane, which brings one parked item back to `ready`.
//
// With lanes, items of lanes that are not slow are `quick` while they are held, until a second has
// passed. When there are as many quick items as workers, the queue is full, and nothing is handed
// out until a quick item is given back or its second is over.
//
// One of the waiting workers, the timekeeper, also waits for the time of the next delayed item and,
// if items wait for a place, for the moment when the next item stops being quick.

#include "kube/runtime/work_queue.h"

#include <algorithm>
#include <cstdint>
#include <set>
#include <utility>

#include "absl/base/thread_annotations.h"
#include "absl/container/node_hash_map.h"
#include "absl/synchronization/mutex.h"
#include "kube/runtime/internal/crew.h"
#include "kube/runtime/internal/queue_items.h"
#include "kube/runtime/internal/queue_lanes.h"
#include "kube/runtime/internal/queue_metrics.h"
#include "kube/runtime/internal/rate_limiter.h"

namespace kube {
namespace {

using internal::ByDueTime;
using internal::Lanes;
using internal::UrgentItems;
using Item = internal::QueueItem;
using Entry = internal::QueueEntry;
using State = internal::ItemState;

// Returns the end of a delay, put off a little so that delays which end at about the same time end
// together: each end wakes two threads. It is at most half of the delay later.
base::SteadyTime EndOf(absl::Duration delay, base::SteadyTime now) {
  constexpr absl::Duration kGrid = absl::Milliseconds(50);
  const base::SteadyTime end = now + delay;
  if (delay < 2 * kGrid) return end;
  return base::SteadyTime::At(absl::Ceil(end.since_beginning(), kGrid));
}

}  // namespace

struct WorkQueue::Impl {
  Impl(Options given, const base::Clock& clock)
      : clock(clock),
        failing(given.registry, given.name),
        limiter(given.limiter),
        metrics(given.registry, given.name),
        lanes(std::move(given.lanes)) {}

  const base::Clock& clock;
  FailingKeys failing;
  mutable absl::Mutex mu;
  internal::RateLimiter limiter ABSL_GUARDED_BY(mu);
  internal::QueueMetrics metrics ABSL_GUARDED_BY(mu);
  // All items that wait or are held; the sets point into it.
  absl::node_hash_map<Request, Entry> entries ABSL_GUARDED_BY(mu);
  UrgentItems ready ABSL_GUARDED_BY(mu);
  std::set<Item*, ByDueTime> delayed ABSL_GUARDED_BY(mu);
  Lanes lanes ABSL_GUARDED_BY(mu);
  size_t waiting ABSL_GUARDED_BY(mu) = 0;  // The number of items in any state but kNothing.
  size_t held ABSL_GUARDED_BY(mu) = 0;
  uint64_t next_sequence ABSL_GUARDED_BY(mu) = 0;
  internal::Crew crew ABSL_GUARDED_BY(mu);
  bool has_timekeeper ABSL_GUARDED_BY(mu) = false;
  base::SteadyTime timer ABSL_GUARDED_BY(mu);  // The time until which the timekeeper waits.
  bool shut_down ABSL_GUARDED_BY(mu) = false;

  void Add(const Request& request, base::SteadyTime due, int priority)
      ABSL_EXCLUSIVE_LOCKS_REQUIRED(mu);
  void Raise(Item& item, int priority) ABSL_EXCLUSIVE_LOCKS_REQUIRED(mu);
  void BecomeDue(Item& item) ABSL_EXCLUSIVE_LOCKS_REQUIRED(mu);
  void BecomeReady(Item& item) ABSL_EXCLUSIVE_LOCKS_REQUIRED(mu);
  void CollectDue() ABSL_EXCLUSIVE_LOCKS_REQUIRED(mu);
  std::optional<Taken> TakeFirst() ABSL_EXCLUSIVE_LOCKS_REQUIRED(mu);
  // Returns whether the worker is let go.
  bool Wait(bool may_end) ABSL_EXCLUSIVE_LOCKS_REQUIRED(mu);
  void GiveBack(const Request& request) ABSL_EXCLUSIVE_LOCKS_REQUIRED(mu);

  base::SteadyTime NextDue() const ABSL_SHARED_LOCKS_REQUIRED(mu) {
    return delayed.empty() ? base::SteadyTime::InfiniteFuture() : (*delayed.begin())->second.due;
  }
  // The next time at which a worker gets something to do without any call.
  base::SteadyTime NextTime() const ABSL_SHARED_LOCKS_REQUIRED(mu) {
    if (ready.empty() || !lanes.IsFull()) return NextDue();
    return std::min(NextDue(), lanes.NextRoom());
  }
  base::SteadyTime TimeToWake() const ABSL_SHARED_LOCKS_REQUIRED(mu) {
    return std::min(NextTime(), crew.look());
  }
  // The conditions on which the timekeeper and the other waiting workers wake up. The timekeeper
  // takes items only when the others do not suffice, because then another worker has to be woken to
  // take its place.
  bool TimekeeperIsWanted() const ABSL_SHARED_LOCKS_REQUIRED(mu) {
    const bool others_suffice = ready.size() <= static_cast<size_t>(crew.waiting());
    return shut_down || (!others_suffice && !lanes.IsFull()) || TimeToWake() < timer;
  }
  bool WorkerIsWanted() const ABSL_SHARED_LOCKS_REQUIRED(mu) {
    return shut_down || (!ready.empty() && !lanes.IsFull()) ||
           (!has_timekeeper && NextTime() < base::SteadyTime::InfiniteFuture());
  }
  bool EndingWorkerIsWanted() const ABSL_SHARED_LOCKS_REQUIRED(mu) {
    return crew.lets_go() || WorkerIsWanted();
  }
};

void WorkQueue::Impl::Add(const Request& request, base::SteadyTime due, int priority) {
  if (shut_down) return;
  const base::SteadyTime now = clock.SteadyNow();
  Item& item = *entries.try_emplace(request).first;
  Entry& entry = item.second;
  if (entry.state != State::kNothing) {
    if (priority > entry.priority) Raise(item, priority);
    // Of two times the earlier one counts.
    if (entry.state != State::kDelayed || due >= entry.due) return;
    delayed.erase(&item);
  } else {
    ++waiting;
    entry.state = State::kDelayed;
    entry.priority = priority;
    entry.sequence = next_sequence++;
  }
  entry.due = std::max(due, now);
  if (due > now) {
    delayed.insert(&item);
  } else {
    BecomeDue(item);
  }
}

// Raises the priority of a waiting item, which also determines its place in `ready` or its lane.
void WorkQueue::Impl::Raise(Item& item, int priority) {
  const State state = item.second.state;
  if (state != State::kDelayed) metrics.Raised(item.second.priority, priority);
  if (state == State::kParked) return lanes.Raise(item, priority);
  if (state == State::kReady) ready.erase(&item);
  item.second.priority = priority;
  if (state == State::kReady) ready.insert(&item);
}

// REQUIRES: the item is not in any of the sets.
void WorkQueue::Impl::BecomeDue(Item& item) {
  metrics.Added(item.second.priority);
  item.second.sequence = next_sequence++;
  if (item.second.held) {
    item.second.state = State::kBlocked;
  } else {
    BecomeReady(item);
  }
}

void WorkQueue::Impl::BecomeReady(Item& item) {
  item.second.state = State::kReady;
  ready.insert(&item);
}

void WorkQueue::Impl::CollectDue() {
  if (delayed.empty()) return;
  const base::SteadyTime now = clock.SteadyNow();
  while (NextDue() <= now) {
    Item& item = **delayed.begin();
    delayed.erase(delayed.begin());
    BecomeDue(item);
  }
}

// Takes the first item whose lane has a place; nullopt when there is none.
std::optional<WorkQueue::Taken> WorkQueue::Impl::TakeFirst() {
  const base::SteadyTime now = clock.SteadyNow();
  lanes.Pass(now);
  while (!ready.empty() && !lanes.IsFull()) {
    Item& item = **ready.begin();
    Entry& entry = item.second;
    ready.erase(ready.begin());
    if (!lanes.Enter(item, now)) {
      entry.state = State::kParked;
      continue;
    }
    metrics.Taken(entry.priority, now - entry.due);
    entry.state = State::kNothing;
    entry.held = true;
    entry.taken = now;
    --waiting;
    crew.Hold(static_cast<int>(++held));
    return Taken{item.first, entry.priority};
  }
  return std::nullopt;
}

bool WorkQueue::Impl::Wait(bool may_end) {
  if (has_timekeeper) {
    crew.Enter(may_end, clock.SteadyNow());
    mu.Await(absl::Condition(this, may_end ? &Impl::EndingWorkerIsWanted : &Impl::WorkerIsWanted));
    return crew.Leave(may_end);
  }
  has_timekeeper = true;
  timer = TimeToWake();
  clock.AwaitUntil(mu, absl::Condition(this, &Impl::TimekeeperIsWanted), timer);
  has_timekeeper = false;
  return crew.Look(clock.SteadyNow(), static_cast<int>(held), may_end);
}

void WorkQueue::Impl::GiveBack(const Request& request) {
  const auto found = entries.find(request);
  if (found == entries.end() || !found->second.held) return;
  Entry& entry = found->second;
  const base::SteadyTime now = clock.SteadyNow();
  metrics.Worked(now - entry.taken);
  for (Item* item : lanes.Leave(*found, now)) BecomeReady(*item);
  entry.held = false;
  --held;
  // It was added again while it was held: it may be handed out from now on.
  if (entry.state == State::kBlocked) BecomeReady(*found);
  if (entry.state == State::kNothing) entries.erase(found);
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
  impl_->Add(item, EndOf(delay, impl_->clock.SteadyNow()), priority);
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
  impl_->failing.Forget(item);
}

int WorkQueue::Requeues(const Request& item) const {
  absl::MutexLock lock(&impl_->mu);
  return impl_->limiter.Failures(item);
}

std::optional<WorkQueue::Taken> WorkQueue::Get() { return Next(std::nullopt, false).taken; }

WorkQueue::Turn WorkQueue::Next(const std::optional<Request>& done, bool may_end) {
  absl::MutexLock lock(&impl_->mu);
  if (done.has_value()) impl_->GiveBack(*done);
  for (bool is_let_go = false;;) {
    impl_->CollectDue();
    if (std::optional<Taken> taken = impl_->TakeFirst()) return {std::move(taken)};
    if (impl_->shut_down || is_let_go) return {.is_over = impl_->shut_down};
    is_let_go = impl_->Wait(may_end);
  }
}

void WorkQueue::Done(const Request& item) {
  absl::MutexLock lock(&impl_->mu);
  impl_->GiveBack(item);
}

void WorkQueue::ShutDown() {
  absl::MutexLock lock(&impl_->mu);
  impl_->CollectDue();
  impl_->shut_down = true;
  impl_->failing.Close();
  // What is due is still worked off; what waits for a time is dropped.
  for (Item* item : std::exchange(impl_->delayed, {})) {
    --impl_->waiting;
    item->second.state = State::kNothing;
    if (!item->second.held) impl_->entries.erase(Request(item->first));
  }
}

size_t WorkQueue::size() const {
  absl::MutexLock lock(&impl_->mu);
  return impl_->waiting;
}

bool WorkQueue::Idle() const {
  absl::MutexLock lock(&impl_->mu);
  impl_->CollectDue();
  return impl_->ready.empty() && impl_->lanes.parked() == 0 && impl_->held == 0;
}

FailingKeys& WorkQueue::failing() { return impl_->failing; }
const FailingKeys& WorkQueue::failing() const { return impl_->failing; }

void WorkQueue::UpdateMetrics() {
  absl::MutexLock lock(&impl_->mu);
  const base::SteadyTime now = impl_->clock.SteadyNow();
  absl::Duration total, longest;
  for (const auto& [request, entry] : impl_->entries) {
    if (!entry.held) continue;
    total += now - entry.taken;
    longest = std::max(longest, now - entry.taken);
  }
  impl_->metrics.InProgress(total, longest);
}

}  // namespace kube
