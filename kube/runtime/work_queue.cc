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
// One of the workers that wait in Get, the timekeeper, also waits for the time of the next delayed
// item and, if items wait for a place, for the moment when the next item stops being quick. Whoever
// calls Take is given this time instead, and keeps it. After a Take without more, `armed` is set,
// and each change looks whether it has to call `tell` (TellIfDue).

#include "kube/runtime/work_queue.h"

#include <algorithm>
#include <cstdint>
#include <set>
#include <utility>

#include "absl/base/thread_annotations.h"
#include "absl/container/node_hash_map.h"
#include "absl/synchronization/mutex.h"
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
  size_t workers ABSL_GUARDED_BY(mu) = 0;  // How many wait, without the timekeeper.
  bool has_timekeeper ABSL_GUARDED_BY(mu) = false;
  base::SteadyTime timer ABSL_GUARDED_BY(mu);      // The time until which the timekeeper waits.
  std::function<void()> tell ABSL_GUARDED_BY(mu);  // See TellWhenDue.
  bool armed ABSL_GUARDED_BY(mu) = false;          // Whether `tell` is to be called.
  base::SteadyTime told ABSL_GUARDED_BY(mu);       // The time that the last Take returned.
  bool shut_down ABSL_GUARDED_BY(mu) = false;

  void Add(const Request& request, base::SteadyTime due, int priority)
      ABSL_EXCLUSIVE_LOCKS_REQUIRED(mu);
  void Raise(Item& item, int priority) ABSL_EXCLUSIVE_LOCKS_REQUIRED(mu);
  void BecomeDue(Item& item) ABSL_EXCLUSIVE_LOCKS_REQUIRED(mu);
  void BecomeReady(Item& item) ABSL_EXCLUSIVE_LOCKS_REQUIRED(mu);
  void CollectDue() ABSL_EXCLUSIVE_LOCKS_REQUIRED(mu);
  std::optional<Taken> TakeFirst() ABSL_EXCLUSIVE_LOCKS_REQUIRED(mu);
  void Wait() ABSL_EXCLUSIVE_LOCKS_REQUIRED(mu);
  void GiveBack(const Request& request) ABSL_EXCLUSIVE_LOCKS_REQUIRED(mu);
  void TellIfDue() ABSL_EXCLUSIVE_LOCKS_REQUIRED(mu);

  base::SteadyTime NextDue() const ABSL_SHARED_LOCKS_REQUIRED(mu) {
    return delayed.empty() ? base::SteadyTime::InfiniteFuture() : (*delayed.begin())->second.due;
  }
  // The next time at which a worker gets something to do without any call.
  base::SteadyTime NextTime() const ABSL_SHARED_LOCKS_REQUIRED(mu) {
    if (ready.empty() || !lanes.IsFull()) return NextDue();
    return std::min(NextDue(), lanes.NextRoom());
  }
  bool CanTake() const ABSL_SHARED_LOCKS_REQUIRED(mu) { return !ready.empty() && !lanes.IsFull(); }
  // The conditions on which the timekeeper and the other waiting workers wake up. The timekeeper
  // takes items only when the others do not suffice, because then another worker has to be woken to
  // take its place.
  bool TimekeeperIsWanted() const ABSL_SHARED_LOCKS_REQUIRED(mu) {
    return shut_down || (ready.size() > workers && CanTake()) || NextTime() < timer;
  }
  bool WorkerIsWanted() const ABSL_SHARED_LOCKS_REQUIRED(mu) {
    return shut_down || CanTake() ||
           (!has_timekeeper && NextTime() < base::SteadyTime::InfiniteFuture());
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
    ++held;
    return Taken{item.first, entry.priority};
  }
  return std::nullopt;
}

void WorkQueue::Impl::Wait() {
  if (has_timekeeper) {
    ++workers;
    mu.Await(absl::Condition(this, &Impl::WorkerIsWanted));
    --workers;
    return;
  }
  has_timekeeper = true;
  timer = NextTime();
  clock.AwaitUntil(mu, absl::Condition(this, &Impl::TimekeeperIsWanted), timer);
  has_timekeeper = false;
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

void WorkQueue::Impl::TellIfDue() {
  if (!armed || (!shut_down && !CanTake() && NextTime() >= told)) return;
  armed = false;
  if (tell) tell();
}

WorkQueue::WorkQueue(Options options, const base::Clock& clock)
    : impl_(std::make_unique<Impl>(std::move(options), clock)) {}
WorkQueue::~WorkQueue() = default;

void WorkQueue::Add(const Request& item, int priority) {
  absl::MutexLock lock(&impl_->mu);
  impl_->Add(item, base::SteadyTime::InfinitePast(), priority);
  impl_->TellIfDue();
}

void WorkQueue::AddAfter(const Request& item, absl::Duration delay, int priority) {
  absl::MutexLock lock(&impl_->mu);
  if (delay > absl::ZeroDuration()) impl_->metrics.Retried();
  impl_->Add(item, EndOf(delay, impl_->clock.SteadyNow()), priority);
  impl_->TellIfDue();
}

void WorkQueue::AddRateLimited(const Request& item, int priority) {
  absl::MutexLock lock(&impl_->mu);
  if (impl_->shut_down) return;
  const base::SteadyTime now = impl_->clock.SteadyNow();
  impl_->metrics.Retried();
  impl_->Add(item, now + impl_->limiter.Next(item, now), priority);
  impl_->TellIfDue();
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

std::optional<WorkQueue::Taken> WorkQueue::Get() {
  absl::MutexLock lock(&impl_->mu);
  for (;;) {
    impl_->CollectDue();
    if (std::optional<Taken> taken = impl_->TakeFirst()) return taken;
    if (impl_->shut_down) return std::nullopt;
    impl_->Wait();
  }
}

void WorkQueue::Done(const Request& item) {
  absl::MutexLock lock(&impl_->mu);
  impl_->GiveBack(item);
  impl_->TellIfDue();
}

WorkQueue::Offer WorkQueue::Take(const std::optional<Request>& done) {
  absl::MutexLock lock(&impl_->mu);
  if (done.has_value()) impl_->GiveBack(*done);
  impl_->CollectDue();
  Offer offer{.taken = impl_->TakeFirst()};
  offer.has_more = impl_->CanTake();
  offer.is_over = impl_->shut_down && !offer.taken.has_value();
  offer.next = impl_->NextTime();
  impl_->armed = !offer.has_more;
  impl_->told = offer.next;
  return offer;
}

void WorkQueue::TellWhenDue(std::function<void()> call) {
  absl::MutexLock lock(&impl_->mu);
  impl_->tell = std::move(call);
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
  impl_->TellIfDue();
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
