// The resources a pod requests, accounted as the Kubernetes scheduler does.
#ifndef INTERPRETER_NATIVE_RESOURCE_TOTALS_H_
#define INTERPRETER_NATIVE_RESOURCE_TOTALS_H_

#include "base/json.h"
#include "interpreter/native/typed_fields.h"

namespace interpreter::native {

// Returns a map of resource name to quantity: for each resource the sum over the containers, at
// least what any init container requests, plus the overhead. A limit stands in for a missing
// request. CPU counts in thousandths, everything else in whole units, each rounded up. Only
// resources for which kube::IsScheduledResource holds count, and only amounts above 0. Null when
// nothing is left. Wrong types and malformed quantities are added to the errors of the pod spec.
json::Value RequestOfPod(Fields& pod_spec);

}  // namespace interpreter::native

#endif  // INTERPRETER_NATIVE_RESOURCE_TOTALS_H_
