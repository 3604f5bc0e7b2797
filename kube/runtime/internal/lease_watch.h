// Wakes a stand-by as soon as the leader gives its Lease up, so that it need not find out with its
// next attempt.
#ifndef KUBE_RUNTIME_INTERNAL_LEASE_WATCH_H_
#define KUBE_RUNTIME_INTERNAL_LEASE_WATCH_H_

#include <memory>

#include "absl/base/thread_annotations.h"
#include "absl/synchronization/mutex.h"
#include "absl/time/time.h"
#include "base/stop_token.h"
#include "kube/client/client.h"

namespace kube {

// A watch on one Lease, which runs from the first Await on. While the server does not grant it, an
// Await is nothing but a pause, at the end of which it is asked for again; but not where the right
// to it is missing, as that of an agent whose role is of `karmadactl register`. Awaits come from
// one thread.
class LeaseWatch : private WatchHandler {
 public:
  // REQUIRES: `client` outlives this object.
  LeaseWatch(Client& client, const Resource& leases, ObjectKey lease);
  ~LeaseWatch() override;

  // Waits for `pause`; returns earlier when the Lease has lost its holder, or has been deleted,
  // since the last call, and when stopped.
  void Await(absl::Duration pause, const base::StopToken& stop);

 private:
  void OnEvent(EventType type, Object lease) override;
  void OnEnd(absl::Status status) override;

  Client& client_;
  const Resource& leases_;
  const ObjectKey lease_;
  absl::Mutex mu_;
  bool given_up_ ABSL_GUARDED_BY(mu_) = false;
  bool running_ ABSL_GUARDED_BY(mu_) = false;
  bool is_forbidden_ ABSL_GUARDED_BY(mu_) = false;
  std::unique_ptr<Watch> watch_;  // Destroyed first, since it calls this object.
};

}  // namespace kube

#endif  // KUBE_RUNTIME_INTERNAL_LEASE_WATCH_H_
