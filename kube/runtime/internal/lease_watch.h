// Wakes a stand-by as soon as the leader gives its Lease up, so that it need not find out with its
// next attempt; and knows when the last renewal came.
#ifndef KUBE_RUNTIME_INTERNAL_LEASE_WATCH_H_
#define KUBE_RUNTIME_INTERNAL_LEASE_WATCH_H_

#include <memory>
#include <optional>
#include <string>

#include "absl/base/thread_annotations.h"
#include "absl/strings/string_view.h"
#include "absl/synchronization/mutex.h"
#include "absl/time/time.h"
#include "base/clock.h"
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

  // Returns when the last event came, if it has brought this version of the Lease; nullopt if it
  // has brought another one, or none has come.
  std::optional<base::SteadyTime> SeenAt(absl::string_view resource_version) const;

 private:
  void OnEvent(EventType type, Object lease) override;
  void OnEnd(absl::Status status) override;

  Client& client_;
  const Resource& leases_;
  const ObjectKey lease_;
  mutable absl::Mutex mu_;
  std::string version_ ABSL_GUARDED_BY(mu_);  // Of the last event.
  base::SteadyTime seen_at_ ABSL_GUARDED_BY(mu_);
  bool given_up_ ABSL_GUARDED_BY(mu_) = false;
  bool running_ ABSL_GUARDED_BY(mu_) = false;
  bool is_forbidden_ ABSL_GUARDED_BY(mu_) = false;
  std::unique_ptr<Watch> watch_;  // Destroyed first, since it calls this object.
};

}  // namespace kube

#endif  // KUBE_RUNTIME_INTERNAL_LEASE_WATCH_H_
