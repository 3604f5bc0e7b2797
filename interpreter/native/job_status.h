// The status that a Job has together of its members' Jobs, such that API servers accept it.
#ifndef INTERPRETER_NATIVE_JOB_STATUS_H_
#define INTERPRETER_NATIVE_JOB_STATUS_H_

#include "absl/status/statusor.h"
#include "absl/time/time.h"
#include "interpreter/interpreter.h"
#include "kube/meta/object.h"

namespace interpreter::native {

// Returns the Job with the status that follows from those of its members. kInvalidArgument when a
// field has a wrong type. Calls from several threads are fine. The rules are upstream's
// (aggregateJobStatus in pkg/resourceinterpreter/default/native/aggregatestatus.go), but for what
// an API server of Kubernetes v1.32 or later refuses (pkg/registry/batch/job/strategy.go):
//   - Failed stands behind FailureTarget. The latter is there from the first failure on; Failed is
//     added when no member is at work any more.
//   - Complete stands with SuccessCriteriaMet, also when members are too old to report that.
//   - A finished Job has a start time, a complete one a completion time that is not before it, and
//     no other one has a completion time.
//   - `failed`, and mostly `succeeded`, never decrease.
absl::StatusOr<kube::Object> AggregateJob(const kube::Object& object, const AggregatedItems& items,
                                          absl::Time now);

}  // namespace interpreter::native

#endif  // INTERPRETER_NATIVE_JOB_STATUS_H_
