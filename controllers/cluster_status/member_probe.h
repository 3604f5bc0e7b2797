// Asks a member whether it is healthy, and explains why not.
#ifndef CONTROLLERS_CLUSTER_STATUS_MEMBER_PROBE_H_
#define CONTROLLERS_CLUSTER_STATUS_MEMBER_PROBE_H_

#include <string>

#include "absl/status/status.h"
#include "absl/strings/string_view.h"
#include "api/cluster.h"
#include "base/stop_token.h"
#include "kube/client/client.h"
#include "kube/meta/object.h"

namespace controllers {

// The answer to a probe.
struct ProbeResult {
  enum class Health { kHealthy, kNotHealthy, kNotReachable };
  Health health = Health::kHealthy;
  // These are set when the member is not reachable. `error` is the whole error, for the log.
  // `cause` is its reason in words that stay the same while the reason does, without addresses
  // that a name was resolved to.
  absl::Status error;
  std::string cause;
};

// Asks /readyz, and /healthz where there is none. As upstream does, every answer with an error code
// counts as not reachable. `secret` names where the member's token comes from.
ProbeResult ProbeMember(kube::Client& client, const kube::ObjectKey& secret,
                        const base::StopToken& stop);

// Returns the message of an error of a transport without the addresses in brackets that it was
// tried at, each part once, cut to a length that suits a condition.
std::string StableCause(absl::string_view message);

// Returns a text that differs when the way to the member has changed: endpoint, proxy, TLS, or the
// Secret's token or caBundle, of which it holds a hash. `secret` is null when it does not exist.
// The text may contain a proxy's credentials: it is for comparisons within this process only.
std::string ConfigurationOf(const api::ClusterView& cluster, const kube::Object* secret);

}  // namespace controllers

#endif  // CONTROLLERS_CLUSTER_STATUS_MEMBER_PROBE_H_
