// A member is due when it may have something to take. It becomes so by Wake, by its time, or by an
// offer that says that there is more; then it is listed in due_, unless as many threads as it
// allows are active for it already: the next of them that leaves lists it. A thread that takes it
// from the list, or stays with it, clears the mark before it looks, so that what comes meanwhile
// marks it again and nothing is missed. Times are only ever made earlier until they are over: a
// look in vain costs little, and two offers may arrive in either order.
//
// A thread that has done a piece of work goes on with the same member while no other one is listed
// (giving back and taking are then one step), and otherwise leaves it at the end of the list.
//
// One of the waiting threads, the timekeeper, also waits for the earliest time of all members. It
// takes work only when the others that wait do not suffice, because then another thread has to be
// woken to keep the time. A thread that becomes busy while none waits starts another one. When the
// system has none left, none waits while all work, and times are looked at between two pieces of
// work.
//
// mu_ is held neither while a member is called nor while a thread is started. The locks of queues,
// in which Wake is called, come before a member's, and that before mu_.

#include "kube/runtime/worker_pool.h"

#include <pthread.h>

#include <algorithm>

#include "absl/status/status.h"

namespace kube {
namespace {

constexpr size_t kLongestThreadName = 15;  // The limit of Linux.

// A thread that waits belongs to nobody.
void SetThreadName(const std::string& name) {
  pthread_setname_np(pthread_self(), name.substr(0, kLongestThreadName).c_str());
}

}  // namespace

void WorkerPool::Member::Wake() {
  absl::MutexLock lock(&mu_);
  if (pool_ != nullptr) pool_->OnWake(*this);
}

WorkerPool::WorkerPool(const base::Clock& clock) : clock_(clock) {}

WorkerPool::~WorkerPool() {
  {
    absl::MutexLock lock(&mu_);
    stopped_ = true;
  }
  running_.AwaitEnd();
}

absl::StatusOr<WorkerPool::MemberPtr> WorkerPool::Join(PoolWork& work, int most) {
  const MemberPtr member(new Member(*this, work, most));
  absl::MutexLock lock(&mu_);
  most_ += most;
  if (threads_ > 0 || StartThread() || threads_ > 0) return member;
  most_ -= most;
  return absl::ResourceExhaustedError("the system has no thread left for it");
}

int WorkerPool::threads() const {
  absl::MutexLock lock(&mu_);
  return threads_;
}

void WorkerPool::OnWake(Member& member) {
  absl::MutexLock lock(&mu_);
  Mark(member);
}

void WorkerPool::Mark(Member& member) {
  if (member.ended_) return;
  member.due_ = true;
  List(member);
}

void WorkerPool::List(Member& member) {
  if (member.listed_ || member.active_ >= member.most_) return;
  member.listed_ = true;
  due_.push_back(member.shared_from_this());
}

void WorkerPool::SetTimer(const MemberPtr& member, base::SteadyTime at) {
  if (member->timer_ < base::SteadyTime::InfiniteFuture()) {
    timers_.erase({member->timer_, member});
  }
  member->timer_ = at;
  if (at < base::SteadyTime::InfiniteFuture()) timers_.insert({at, member});
}

void WorkerPool::CollectDue() {
  if (timers_.empty()) return;
  const base::SteadyTime now = clock_.SteadyNow();
  while (NextTime() <= now) {
    const MemberPtr member = timers_.begin()->second;
    SetTimer(member, base::SteadyTime::InfiniteFuture());
    Mark(*member);
  }
}

// REQUIRES: due_ is not empty.
WorkerPool::MemberPtr WorkerPool::TakeFirst() {
  MemberPtr first = std::move(due_.front());
  due_.pop_front();
  first->listed_ = false;
  first->due_ = false;
  ++first->active_;
  return first;
}

void WorkerPool::Loop() {
  absl::MutexLock lock(&mu_);
  --starting_;
  for (;;) {
    CollectDue();
    if (!due_.empty()) {
      Serve(TakeFirst());
    } else if (stopped_ || (Wait() && due_.empty())) {
      break;
    }
  }
  --threads_;
}

void WorkerPool::Serve(const MemberPtr& member) {
  crew_.Busy(++busy_);
  if (NeedsThread()) StartThread();
  mu_.Unlock();
  SetThreadName(member->name_);
  std::optional<Request> done;
  while (const auto taken = TakeFrom(member, std::exchange(done, std::nullopt))) {
    member->work_.Work(*taken);
    if (!StaysWith(*member)) {
      member->work_.GiveBack(taken->request);
      break;
    }
    done = taken->request;
  }
  mu_.Lock();
  Leave(member);
  --busy_;
}

std::optional<WorkQueue::Taken> WorkerPool::TakeFrom(const MemberPtr& member,
                                                     const std::optional<Request>& done) {
  WorkQueue::Offer offer = member->work_.Take(done);
  absl::MutexLock lock(&mu_);
  if (offer.next < member->timer_) SetTimer(member, offer.next);
  if (offer.is_over) member->over_ = true;
  if (offer.has_more) Mark(*member);
  return std::move(offer.taken);
}

bool WorkerPool::StaysWith(Member& member) {
  absl::MutexLock lock(&mu_);
  CollectDue();
  const bool others_wait = due_.size() > (member.listed_ ? 1 : 0);
  if (others_wait) return false;
  if (!member.listed_) member.due_ = false;
  // The system may have had none left when the thread came.
  if (!due_.empty() && NeedsThread()) StartThread();
  return true;
}

void WorkerPool::Leave(const MemberPtr& member) {
  --member->active_;
  if (member->due_) {
    List(*member);
  } else if (member->over_ && member->active_ == 0) {
    End(member);
  }
}

// Nobody looks at the member any more, and nothing lists it again. A call of Wake may be under way
// until the member does not know the pool any more.
void WorkerPool::End(const MemberPtr& member) {
  member->ended_ = true;
  SetTimer(member, base::SteadyTime::InfiniteFuture());
  most_ -= member->most_;
  mu_.Unlock();
  {
    absl::MutexLock lock(&member->mu_);
    member->pool_ = nullptr;
  }
  member->work_.Ended();
  mu_.Lock();
}

bool WorkerPool::NeedsThread() const {
  const int waiting = crew_.waiting() - crew_.leaving() + (has_timekeeper_ ? 1 : 0) + starting_;
  return waiting == 0 && threads_ < most_ + kAtRest;
}

bool WorkerPool::StartThread() {
  ++threads_;
  ++starting_;
  mu_.Unlock();
  const bool started = running_.Start(/*others=*/true, [this] { Loop(); });
  mu_.Lock();
  if (started) return true;
  --threads_;
  --starting_;
  return false;
}

base::SteadyTime WorkerPool::TimeToWake() const { return std::min(NextTime(), crew_.look()); }

bool WorkerPool::TimekeeperIsWanted() const {
  return stopped_ || due_.size() > static_cast<size_t>(crew_.waiting()) || TimeToWake() < timer_;
}

bool WorkerPool::WorkerIsWanted() const {
  return stopped_ || crew_.leaving() > 0 || !due_.empty() ||
         (!has_timekeeper_ && TimeToWake() < base::SteadyTime::InfiniteFuture());
}

bool WorkerPool::Wait() {
  static const std::string* const kIdleName = new std::string("idle worker");
  SetThreadName(*kIdleName);
  if (has_timekeeper_) {
    crew_.Enter(clock_.SteadyNow());
    mu_.Await(absl::Condition(this, &WorkerPool::WorkerIsWanted));
    return crew_.Leave();
  }
  has_timekeeper_ = true;
  timer_ = TimeToWake();
  const absl::Condition wanted(this, &WorkerPool::TimekeeperIsWanted);
  if (timer_ == base::SteadyTime::InfiniteFuture()) {
    mu_.Await(wanted);
  } else {
    clock_.AwaitUntil(mu_, wanted, timer_);
  }
  has_timekeeper_ = false;
  crew_.Look(clock_.SteadyNow(), busy_);
  return false;
}

}  // namespace kube
