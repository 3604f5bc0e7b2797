// The uid of an object on the simulated control plane.
#ifndef LENS_PLAN_TEMPLATE_UID_H_
#define LENS_PLAN_TEMPLATE_UID_H_

#include <string>

#include "absl/status/status.h"
#include "kube/meta/object.h"
#include "sandbox/storage/backend.h"

namespace lens::plan {

// Gives the object its uid, also where the server has put the one that it had chosen: into the
// selector of a Job and the labels of its pods.
void SetUid(const std::string& uid, kube::Object& object);

// Makes a binding of a live control plane name the uid that its template has on this server: a
// definition that the server came with keeps its own.
absl::Status NameTemplateOfHere(sandbox::Backend& backend, kube::Object& binding);

}  // namespace lens::plan

#endif  // LENS_PLAN_TEMPLATE_UID_H_
