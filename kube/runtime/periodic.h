// A runnable that does something again and again, and has no thread between two times.
#ifndef KUBE_RUNTIME_PERIODIC_H_
#define KUBE_RUNTIME_PERIODIC_H_

#include "absl/base/thread_annotations.h"
#include "absl/status/status.h"
#include "absl/synchronization/mutex.h"
#include "absl/time/time.h"
#include "base/clock.h"
#include "base/stop_token.h"
#include "kube/runtime/manager.h"
#include "kube/runtime/worker_pool.h"

namespace kube {

class Periodic : public PooledRunnable {
 public:
  // REQUIRES: `clock`, which is that of the pool, outlives the runnable.
  explicit Periodic(const base::Clock& clock) : clock_(clock) {}

  // On threads of the pool, which have the runnable's name meanwhile.
  void RunOn(WorkerPool& pool, const base::StopToken& stop, Ended ended) final;
  // On this thread, for a caller that waits for the end.
  absl::Status Run(const base::StopToken& stop) final;
  // Has Tick called soon, before its time; what is asked for before the run counts, too. It does
  // not block. Thread-safe.
  void Wake();

 protected:
  // Returns how long it is until the first call of Tick.
  virtual absl::Duration Begin() { return absl::ZeroDuration(); }
  // Does it once; returns how long it is until the next time. One call at a time, not always on the
  // same thread. It may block, and has to return soon when stopped.
  virtual absl::Duration Tick(const base::StopToken& stop) = 0;
  // Ends the run with this result after the present Tick. REQUIRES: called by Tick.
  void EndWith(absl::Status result);

 private:
  class OnPool;

  bool TakeWake();
  const base::Clock& clock_;
  absl::Mutex mu_;
  bool woken_ ABSL_GUARDED_BY(mu_) = false;
  WorkerPool::MemberPtr member_ ABSL_GUARDED_BY(mu_);  // While it runs on a pool.
  // Used by the thread that ticks.
  bool has_ended_ = false;
  absl::Status result_;
};

}  // namespace kube

#endif  // KUBE_RUNTIME_PERIODIC_H_
