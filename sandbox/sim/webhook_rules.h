// What karmada-webhook refuses of autoscalers and quotas. It is apart from KarmadaAdmission because
// tests of controllers need objects that a real control plane would not take.
#ifndef SANDBOX_SIM_WEBHOOK_RULES_H_
#define SANDBOX_SIM_WEBHOOK_RULES_H_

#include "absl/status/status.h"
#include "kube/meta/object.h"
#include "sandbox/storage/backend.h"

namespace sandbox {

// Returns a hook with the rules below, for CREATE and UPDATE.
AdmissionHook WebhookRules();

// Each returns the refusal of the webhook of the kind (403), with all mistakes; OK without any.
absl::Status CheckCronFederatedHpa(const kube::Object& cron);
absl::Status CheckFederatedHpa(const kube::Object& hpa);
absl::Status CheckFederatedResourceQuota(const kube::Object& quota);

}  // namespace sandbox

#endif  // SANDBOX_SIM_WEBHOOK_RULES_H_
