// Builds the loops that report on objects in members.
#ifndef CONTROLLERS_WORK_STATUS_REGISTER_H_
#define CONTROLLERS_WORK_STATUS_REGISTER_H_

#include "absl/status/status.h"
#include "controllers/context/context.h"

namespace controllers {

struct WorkStatusWorkers {
  int by_object = 1;  // Of WorkStatusReconciler.
  int by_work = 1;    // Of MemberWatches.
};

// Builds two loops: WorkStatusReconciler, and MemberWatches, which feeds it.
absl::Status RegisterWorkStatus(const Context& context, const WorkStatusWorkers& workers);

}  // namespace controllers

#endif  // CONTROLLERS_WORK_STATUS_REGISTER_H_
