// A key is pending from Enqueue until its reconcile begins; in that time further calls change
// nothing, and a call that comes later queues it again. Each key that begins to wait posts one run;
// where keys are ranked, a run takes the key whose turn it is, not the one that posted it.
// EnqueueAfter keeps one timer for each key, that of the earliest time. A timer that has been moved
// fires at the old time as well, which costs one reconcile too many. A failed reconcile sets a
// timer, after 5 ms first, twice as long each time, and one second at most; a success ends the
// count, and the eighth failure in a row is logged. mu_ guards pending_ and timers_ and is not held
// during a reconcile; failures_ belongs to the loop's thread.

#include "sandbox/sim/controller.h"

#include <algorithm>
#include <utility>

#include "base/log.h"
#include "kube/meta/object.h"

namespace sandbox {
namespace {

constexpr absl::Duration kFirstRetry = absl::Milliseconds(5);
constexpr absl::Duration kLastRetry = absl::Seconds(1);
constexpr int kQuietFailures = 8;  // Conflicts end long before.

absl::Duration RetryDelay(int failures) {
  return std::min(kLastRetry, kFirstRetry * (1 << std::min(failures - 1, 10)));
}

}  // namespace

Controller::Controller(std::string name, Backend& backend, EventLoop& loop, Reconcile reconcile)
    : name_(std::move(name)), backend_(backend), loop_(loop), reconcile_(std::move(reconcile)) {}

Controller::~Controller() {
  for (const int64_t id : subscriptions_) backend_.Unsubscribe(id);
  loop_.Forget(this);
}

void Controller::WatchKeys(const kube::Gvr& r) {
  Watch(r, [this](const Event& event) { Enqueue(event.object->key()); });
}

void Controller::WatchOwned(const kube::Gvr& r, std::string kind) {
  Watch(r, [this, kind = std::move(kind)](const Event& event) {
    const kube::OwnerRef owner = event.object->ControllerOwner();
    if (owner.kind == kind) Enqueue({std::string(event.object->ns()), owner.name});
  });
}

void Controller::Watch(const kube::Gvr& r, std::function<void(const Event&)> callback) {
  subscriptions_.push_back(
      backend_.Subscribe(r, [callback = std::move(callback)](const Event& event) {
        if (event.type != Event::Type::kBookmark) callback(event);
      }));
}

void Controller::Enqueue(const kube::ObjectKey& key) {
  {
    absl::MutexLock lock(&mu_);
    if (!pending_.try_emplace(key, Pending{enqueued_, std::nullopt}).second) return;
    ++enqueued_;
  }
  loop_.Post(this, [this, key] { RunOnce(key); });
}

void Controller::EnqueueAfter(const kube::ObjectKey& key, absl::Duration delay) {
  const absl::Time due = Now() + delay;
  {
    absl::MutexLock lock(&mu_);
    const auto [timer, added] = timers_.emplace(key, due);
    if (!added && timer->second <= due) return;
    timer->second = due;
  }
  loop_.Post(
      this, [this, key, due] { TimerFired(key, due); }, delay);
}

void Controller::TimerFired(const kube::ObjectKey& key, absl::Time due) {
  {
    absl::MutexLock lock(&mu_);
    const auto timer = timers_.find(key);
    if (timer != timers_.end() && timer->second == due) timers_.erase(timer);
  }
  Enqueue(key);
}

kube::ObjectKey Controller::HighestRanked() {
  std::vector<kube::ObjectKey> unranked;
  {
    absl::MutexLock lock(&mu_);
    for (const auto& [key, pending] : pending_) {
      if (!pending.rank.has_value()) unranked.push_back(key);
    }
  }
  // Only this thread takes keys out, so they still wait afterwards.
  std::vector<int64_t> ranks;
  for (const kube::ObjectKey& key : unranked) ranks.push_back(rank_(key));
  absl::MutexLock lock(&mu_);
  for (size_t i = 0; i < unranked.size(); ++i) pending_.at(unranked[i]).rank = ranks[i];
  // One that was enqueued meanwhile has no rank yet, and comes behind the others.
  return std::max_element(pending_.begin(), pending_.end(),
                          [](const auto& a, const auto& b) {
                            if (a.second.rank != b.second.rank)
                              return a.second.rank < b.second.rank;
                            return a.second.sequence > b.second.sequence;
                          })
      ->first;
}

void Controller::RunOnce(const kube::ObjectKey& posted) {
  const kube::ObjectKey key = rank_ ? HighestRanked() : posted;
  {
    absl::MutexLock lock(&mu_);
    pending_.erase(key);
  }
  const absl::Status status = reconcile_(key);
  if (status.ok()) {
    failures_.erase(key);
    return;
  }
  const int failures = ++failures_[key];
  if (failures == kQuietFailures) {
    base::LogWarning("simulated controller keeps failing",
                     {{"controller", name_}, {"key", key.ToString()}, {"error", status}});
  }
  EnqueueAfter(key, RetryDelay(failures));
}

}  // namespace sandbox
