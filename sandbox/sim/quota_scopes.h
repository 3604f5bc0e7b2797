// Which objects a ResourceQuota is about: spec.scopes and spec.scopeSelector.
#ifndef SANDBOX_SIM_QUOTA_SCOPES_H_
#define SANDBOX_SIM_QUOTA_SCOPES_H_

#include "kube/meta/names.h"
#include "kube/meta/object.h"

namespace sandbox {

// Returns whether the object is in every scope of the quota, as one without scopes has all objects.
// The scopes of pods are Terminating, NotTerminating, BestEffort, NotBestEffort, PriorityClass and
// CrossNamespacePodAffinity, the one of claims is VolumeAttributesClass; no other object is in one.
// REQUIRES: a pod has its status.qosClass.
bool IsInScopes(const kube::Object& quota, const kube::Resource& resource,
                const kube::Object& object);

}  // namespace sandbox

#endif  // SANDBOX_SIM_QUOTA_SCOPES_H_
