// How the loops of this folder are built.
#ifndef CONTROLLERS_FEDERATED_QUOTA_REGISTER_H_
#define CONTROLLERS_FEDERATED_QUOTA_REGISTER_H_

#include "absl/status/status.h"
#include "controllers/context/context.h"

namespace controllers {

absl::Status RegisterQuotaEnforcement(const Context& context, int workers);

absl::Status RegisterQuotaStatus(const Context& context, int workers);

absl::Status RegisterQuotaSync(const Context& context, int workers);

}  // namespace controllers

#endif  // CONTROLLERS_FEDERATED_QUOTA_REGISTER_H_
