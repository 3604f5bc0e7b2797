// Keeps the writes of a former leader away from servers.
//
// A process that stands still (a stopped or frozen container, a paused virtual machine) does not
// notice that its lease runs out. When it goes on, its loops go on in the middle of what they did,
// and may write before the election has noticed that another process leads. So each write asks for
// itself whether the lease is still held.
//
//   auto fence = std::make_shared<LeaderFence>(clock);
//   auto transport = fence->Over(server);   // For the client of the loops.
#ifndef KUBE_RUNTIME_LEADER_FENCE_H_
#define KUBE_RUNTIME_LEADER_FENCE_H_

#include <memory>

#include "absl/base/thread_annotations.h"
#include "absl/synchronization/mutex.h"
#include "base/clock.h"
#include "kube/http/transport.h"

namespace kube {

// Thread-safe.
class LeaderFence : public std::enable_shared_from_this<LeaderFence> {
 public:
  // Everything may be written until the first call of HoldsUntil. REQUIRES: `clock` outlives the
  // object and its transports.
  explicit LeaderFence(const base::Clock& clock) : clock_(clock) {}

  // The lease is held, and nobody else takes it before that moment. For the election.
  void HoldsUntil(base::SteadyTime end);
  // The lease is lost: nothing is written any more.
  void Close();
  bool MayWrite() const;

  // Returns a transport that refuses writes with kCancelled, as not processed, when the lease is
  // not held any more. Reads and Events, which only tell, pass. What is on its way when the lease
  // runs out is not called back; the server gets it in the time that the lease lasts beyond the
  // renew deadline.
  std::shared_ptr<Transport> Over(std::shared_ptr<Transport> server);

 private:
  const base::Clock& clock_;
  mutable absl::Mutex mu_;
  base::SteadyTime end_ ABSL_GUARDED_BY(mu_) = base::SteadyTime::InfiniteFuture();
};

}  // namespace kube

#endif  // KUBE_RUNTIME_LEADER_FENCE_H_
