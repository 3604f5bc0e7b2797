// Simulates karmada-webhook's enforcement of FederatedResourceQuotas.
#ifndef SANDBOX_SIM_QUOTA_ADMISSION_H_
#define SANDBOX_SIM_QUOTA_ADMISSION_H_

#include "sandbox/storage/backend.h"

namespace sandbox {

// The reason of the refusal.
inline constexpr char kQuotaExceededReason[] = "QuotaExceeded";

// Returns a hook that adds what a ResourceBinding will use more, or less, to status.overallUsed of
// each quota of its namespace, and refuses the request (403 QuotaExceeded) when a limit would be
// exceeded. As upstream's, it books before the binding is stored. REQUIRES: `backend` outlives the
// hook.
AdmissionHook QuotaAdmission(Backend& backend);

}  // namespace sandbox

#endif  // SANDBOX_SIM_QUOTA_ADMISSION_H_
