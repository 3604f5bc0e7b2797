// A runnable that does something again and again, and has no thread between two times.
#ifndef KUBE_RUNTIME_PERIODIC_H_
#define KUBE_RUNTIME_PERIODIC_H_

#include "absl/status/status.h"
#include "absl/time/time.h"
#include "base/clock.h"
#include "base/stop_token.h"
#include "kube/runtime/manager.h"

namespace kube {

class Periodic : public PooledRunnable {
 public:
  // REQUIRES: `clock`, which is that of the pool, outlives the runnable.
  explicit Periodic(const base::Clock& clock) : clock_(clock) {}

  // On threads of the pool, which have the runnable's name meanwhile.
  void RunOn(WorkerPool& pool, const base::StopToken& stop, Ended ended) final;
  // On this thread, for a caller that waits for the end.
  absl::Status Run(const base::StopToken& stop) final;

 protected:
  // Returns how long it is until the first call of Tick.
  virtual absl::Duration Begin() { return absl::ZeroDuration(); }
  // Does it once; returns how long it is until the next time. One call at a time, not always on the
  // same thread. It may block, and has to return soon when stopped.
  virtual absl::Duration Tick(const base::StopToken& stop) = 0;

 private:
  class OnPool;

  const base::Clock& clock_;
};

}  // namespace kube

#endif  // KUBE_RUNTIME_PERIODIC_H_
