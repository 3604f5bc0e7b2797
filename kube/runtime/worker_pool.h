// The threads on which the controllers of a process work, whichever managers they belong to.
//
// A controller at rest has no thread. When one of its items is due, a thread that waits takes it; a
// thread that goes to work while no other one waits starts another one, so that what blocks on the
// network delays nobody else. Threads that have not been needed for some seconds end. At rest there
// are two: one keeps the time of all queues, and both wait for work.
#ifndef KUBE_RUNTIME_WORKER_POOL_H_
#define KUBE_RUNTIME_WORKER_POOL_H_

#include <deque>
#include <memory>
#include <optional>
#include <set>
#include <string>
#include <utility>

#include "absl/base/thread_annotations.h"
#include "absl/status/statusor.h"
#include "absl/synchronization/mutex.h"
#include "base/clock.h"
#include "base/threads.h"
#include "kube/runtime/internal/crew.h"
#include "kube/runtime/work_queue.h"

namespace kube {

// What has work for the threads of a pool. All functions but Ended may be called on several threads
// at once.
class PoolWork {
 public:
  virtual ~PoolWork() = default;
  // A thread has this name while it works on it, as far as the system allows.
  virtual std::string name() const = 0;
  // As WorkQueue::Take, whose promises it keeps: after an offer without more, Member::Wake is
  // called when there is something to take before `next`. What needs no item may be done here.
  virtual WorkQueue::Offer Take(const std::optional<Request>& done) = 0;
  virtual void Work(const WorkQueue::Taken& taken) = 0;
  // Takes an item back whose work is done.
  virtual void GiveBack(const Request& done) = 0;
  // Called after an offer has said that it is over, when no thread works on it any more. This is
  // the last access: it may destroy the object.
  virtual void Ended() = 0;
};

// Members take turns: a thread takes one item of the member that has waited longest, and looks
// again. So a member that always has work holds up nobody, even if the system has no further
// threads. As many threads work for a member at once as it has said, and for all members together
// as many as all have said. When no thread is to be had, those that there are do the work.
// Thread-safe.
class WorkerPool {
 public:
  static constexpr int kAtRest = 2;

  // REQUIRES: the clock outlives the pool.
  explicit WorkerPool(const base::Clock& clock);
  // REQUIRES: all members have ended. Waits for the threads.
  ~WorkerPool();
  WorkerPool(const WorkerPool&) = delete;

  class Member : public std::enable_shared_from_this<Member> {
   public:
    // Has a thread of the pool look for something to take, soon. Thread-safe; nothing happens after
    // the end, nor if the pool is gone. Does not block.
    void Wake();

   private:
    friend class WorkerPool;
    Member(WorkerPool& pool, PoolWork& work, int most)
        : work_(work), name_(work.name()), most_(most), pool_(&pool) {}

    PoolWork& work_;
    const std::string name_;
    const int most_;
    // Guarded by the pool's mutex.
    bool due_ = false;     // There may be something to take.
    bool listed_ = false;  // It is in due_ of the pool.
    bool over_ = false;    // An offer has said so.
    bool ended_ = false;
    int active_ = 0;  // How many threads work on it or look.
    base::SteadyTime timer_ = base::SteadyTime::InfiniteFuture();  // When it becomes due.
    absl::Mutex mu_;
    WorkerPool* pool_ ABSL_GUARDED_BY(mu_);  // Null after the end.
  };
  using MemberPtr = std::shared_ptr<Member>;

  // Lets at most `most` threads work on `work` at once. Nothing is called before Member::Wake, and
  // `work` has to exist until Ended. kResourceExhausted when the pool has no thread, and the system
  // none left.
  absl::StatusOr<MemberPtr> Join(PoolWork& work, int most);
  // Returns how many threads there are.
  int threads() const;

 private:
  // By the time, then by the member, which is kept.
  using Timers = std::set<std::pair<base::SteadyTime, MemberPtr>>;

  void OnWake(Member& member);
  void Loop();
  // Takes a member's items until others have to take their turn, or there are no more. Gives the
  // lock up meanwhile.
  void Serve(const MemberPtr& member) ABSL_EXCLUSIVE_LOCKS_REQUIRED(mu_);
  // Returns an item of the member, unless there is none.
  std::optional<WorkQueue::Taken> TakeFrom(const MemberPtr& member,
                                           const std::optional<Request>& done)
      ABSL_LOCKS_EXCLUDED(mu_);
  // Returns whether the thread shall serve the member further, and counts that as a look.
  bool StaysWith(Member& member) ABSL_LOCKS_EXCLUDED(mu_);
  void Leave(const MemberPtr& member) ABSL_EXCLUSIVE_LOCKS_REQUIRED(mu_);
  void End(const MemberPtr& member) ABSL_EXCLUSIVE_LOCKS_REQUIRED(mu_);
  MemberPtr TakeFirst() ABSL_EXCLUSIVE_LOCKS_REQUIRED(mu_);
  // Notes that there may be something to take.
  void Mark(Member& member) ABSL_EXCLUSIVE_LOCKS_REQUIRED(mu_);
  void List(Member& member) ABSL_EXCLUSIVE_LOCKS_REQUIRED(mu_);
  void SetTimer(const MemberPtr& member, base::SteadyTime at) ABSL_EXCLUSIVE_LOCKS_REQUIRED(mu_);
  void CollectDue() ABSL_EXCLUSIVE_LOCKS_REQUIRED(mu_);
  // Returns whether the thread is let go.
  bool Wait() ABSL_EXCLUSIVE_LOCKS_REQUIRED(mu_);
  bool NeedsThread() const ABSL_SHARED_LOCKS_REQUIRED(mu_);
  // Gives the lock up meanwhile.
  bool StartThread() ABSL_EXCLUSIVE_LOCKS_REQUIRED(mu_);

  base::SteadyTime NextTime() const ABSL_SHARED_LOCKS_REQUIRED(mu_) {
    return timers_.empty() ? base::SteadyTime::InfiniteFuture() : timers_.begin()->first;
  }
  base::SteadyTime TimeToWake() const ABSL_SHARED_LOCKS_REQUIRED(mu_);
  bool TimekeeperIsWanted() const ABSL_SHARED_LOCKS_REQUIRED(mu_);
  bool WorkerIsWanted() const ABSL_SHARED_LOCKS_REQUIRED(mu_);

  const base::Clock& clock_;
  mutable absl::Mutex mu_;
  std::deque<MemberPtr> due_ ABSL_GUARDED_BY(mu_);  // Those that wait for their turn, in order.
  Timers timers_ ABSL_GUARDED_BY(mu_);
  int most_ ABSL_GUARDED_BY(mu_) = 0;  // The sum of all members.
  int threads_ ABSL_GUARDED_BY(mu_) = 0;
  int starting_ ABSL_GUARDED_BY(mu_) = 0;  // How many of the threads have not begun.
  int busy_ ABSL_GUARDED_BY(mu_) = 0;      // How many of the threads serve a member.
  internal::Crew crew_ ABSL_GUARDED_BY(mu_);
  bool has_timekeeper_ ABSL_GUARDED_BY(mu_) = false;
  base::SteadyTime timer_ ABSL_GUARDED_BY(mu_);  // The time until which the timekeeper waits.
  bool stopped_ ABSL_GUARDED_BY(mu_) = false;
  base::DetachedThreads running_{"the workers of the controllers"};
};

}  // namespace kube

#endif  // KUBE_RUNTIME_WORKER_POOL_H_
