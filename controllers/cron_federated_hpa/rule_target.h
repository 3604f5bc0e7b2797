// Scales what a CronFederatedHPA refers to.
#ifndef CONTROLLERS_CRON_FEDERATED_HPA_RULE_TARGET_H_
#define CONTROLLERS_CRON_FEDERATED_HPA_RULE_TARGET_H_

#include "absl/status/status.h"
#include "api/cron_federated_hpa.h"
#include "base/stop_token.h"
#include "kube/cache/cluster_client.h"
#include "kube/meta/object.h"

namespace controllers {

// Gives spec.scaleTargetRef of the CronFederatedHPA the replicas of the rule, or, if that is a
// FederatedHPA, its bounds (upstream's ScaleWorkloads and ScaleFHPA). What it has already is not
// written. The target is read from the server, never from a cache. Errors are those of the server,
// and kInvalidArgument if the reference or the rule does not fit: a FederatedHPA never gets a
// minimum above its maximum.
absl::Status ApplyRule(kube::ClusterClient& client, const kube::Object& object,
                       const api::CronRule& rule, const base::StopToken& stop);

}  // namespace controllers

#endif  // CONTROLLERS_CRON_FEDERATED_HPA_RULE_TARGET_H_
