// Sets the defaults of built-in kinds that users and controllers notice, as kube-apiserver's
// SetDefaults_* functions do, and the fields that its registry strategies set on creation.
#ifndef SANDBOX_WRITE_BUILTIN_DEFAULTS_H_
#define SANDBOX_WRITE_BUILTIN_DEFAULTS_H_

#include <string>

#include "kube/meta/object.h"
#include "sandbox/kinds/resource_info.h"

namespace sandbox {

// Sets absent fields; runs on every write.
void ApplyBuiltinDefaults(const ResourceInfo& info, kube::Object& object);
// Sets the fields that only creation sets: initial status, a namespace's finalizer, a Job's
// selector. REQUIRES: the object has its uid.
void PrepareBuiltinForCreate(const ResourceInfo& info, kube::Object& object);

// Sets the defaults of a pod template; shared by the workload kinds.
void DefaultPodTemplate(json::Value& pod_template);
// For a pod itself; what its containers are limited to becomes what they request, too.
void DefaultPod(json::Value& spec);

// Returns the quality of service that requests and limits give a pod: "Guaranteed", "Burstable" or
// "BestEffort" (as ComputePodQOS).
std::string QosClassOf(const json::Value& pod_spec);

}  // namespace sandbox

#endif  // SANDBOX_WRITE_BUILTIN_DEFAULTS_H_
