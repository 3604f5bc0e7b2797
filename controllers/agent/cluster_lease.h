// The Lease by which an agent shows that it is alive.
#ifndef CONTROLLERS_AGENT_CLUSTER_LEASE_H_
#define CONTROLLERS_AGENT_CLUSTER_LEASE_H_

#include <memory>
#include <string>
#include <utility>

#include "absl/status/status.h"
#include "absl/time/time.h"
#include "base/repeated_errors.h"
#include "base/stop_token.h"
#include "kube/cache/informer.h"
#include "kube/client/client.h"
#include "kube/meta/object.h"
#include "kube/runtime/manager.h"
#include "kube/runtime/periodic.h"

namespace controllers {

struct ClusterLeaseOptions {
  std::string cluster;
  absl::Duration duration = absl::Seconds(40);
  double renew_fraction = 0.25;  // The part of it after which the Lease is renewed.
  std::string version = {};  // This program's, which each renewal records (api/agent_version.h).
};

// Renews the Lease karmada-cluster/<cluster> from the moment at which the Cluster is first seen to
// be ready, as long as the Cluster exists (upstream's initLeaseController). The Cluster owns it.
// Warns when another process renews it as well.
class ClusterLease : public kube::Periodic {
 public:
  // `leases` writes the Lease; one with a transport of its own keeps the renewals out of the queues
  // of the loops. REQUIRES: both outlive the runnable.
  ClusterLease(ClusterLeaseOptions options, kube::Manager& manager, kube::Client& leases);

  std::string name() const override { return "cluster lease"; }

 protected:
  absl::Duration Tick(const base::StopToken& stop) override;

 private:
  void Look(const base::StopToken& stop);
  absl::Status Renew(const kube::Object& cluster, const base::StopToken& stop);
  // Writes the Lease, of which `before` is the stored state; an empty object when there is none.
  absl::Status Write(const kube::Object& before, const kube::Object& cluster,
                     const base::StopToken& stop);
  // Says so when somebody else has renewed the Lease between our renewals, as a second agent does.
  void NoteOthers(const kube::Object& found);
  absl::Duration Pause() const;

  const ClusterLeaseOptions options_;
  kube::Manager& manager_;
  kube::Client& leases_;
  const std::shared_ptr<kube::Informer> clusters_;
  bool has_begun_ = false;
  kube::Object held_;     // The Lease as it was written last.
  int foreign_ = 0;       // How many renewals of others we have met one after the other.
  bool is_told_ = false;  // The log has them.
  base::RepeatedErrors failures_;
};

}  // namespace controllers

#endif  // CONTROLLERS_AGENT_CLUSTER_LEASE_H_
