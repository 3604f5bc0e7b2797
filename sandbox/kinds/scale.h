// The scale subresource: autoscaling/v1 Scale as a view of an object.
#ifndef SANDBOX_KINDS_SCALE_H_
#define SANDBOX_KINDS_SCALE_H_

#include "absl/status/statusor.h"
#include "kube/meta/object.h"
#include "sandbox/kinds/resource_info.h"

namespace sandbox {

// Returns the Scale kind, for checks of clients' documents.
const kube::Gvk& ScaleKind();

// REQUIRES: info.scale.
kube::Object ScaleOf(const ResourceInfo& info, const kube::Object& object);
// Returns `object` with the replicas of the Scale. 400 or 422 for a malformed Scale, 409 if its
// resourceVersion is old.
absl::StatusOr<kube::Object> WithScale(const ResourceInfo& info, const kube::Object& object,
                                       const kube::Object& scale);

}  // namespace sandbox

#endif  // SANDBOX_KINDS_SCALE_H_
