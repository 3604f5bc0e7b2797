// What an API server refuses in the status of built-in kinds, with the wording of Kubernetes 1.35:
// the sandbox's README lists the rules. tests/data/statuses has a row for each of them, which the
// sandbox and a real kube-apiserver answer alike.
#ifndef SANDBOX_WRITE_STATUS_VALIDATION_H_
#define SANDBOX_WRITE_STATUS_VALIDATION_H_

#include "kube/meta/object.h"
#include "sandbox/kinds/api_errors.h"
#include "sandbox/kinds/resource_info.h"

namespace sandbox {

// Fills in what the server keeps or sets when a status is written: a pod's qosClass and
// observedGeneration, and the ipMode of a load balancer's addresses.
void CompleteBuiltinStatus(const ResourceInfo& info, const kube::Object& old_object,
                           kube::Object& object);

// Checks the status of `object`, which is to replace that of `old_object`; kinds without rules
// pass. Nothing else of the object is looked at, except for the spec that the status belongs to.
void ValidateBuiltinStatus(const ResourceInfo& info, const kube::Object& old_object,
                           const kube::Object& object, FieldErrors& errors);

}  // namespace sandbox

#endif  // SANDBOX_WRITE_STATUS_VALIDATION_H_
