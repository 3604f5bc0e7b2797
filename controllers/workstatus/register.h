// Builds the loops that report on objects in members.
#ifndef CONTROLLERS_WORKSTATUS_REGISTER_H_
#define CONTROLLERS_WORKSTATUS_REGISTER_H_

#include "absl/status/status.h"
#include "loops/context.h"

namespace controllers {

// Builds two loops: WorkStatusReconciler, with this number of workers, and MemberWatches, which
// feeds it.
absl::Status RegisterWorkStatus(const loops::Context& context, int workers);

}  // namespace controllers

#endif  // CONTROLLERS_WORKSTATUS_REGISTER_H_
