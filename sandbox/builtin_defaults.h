// Defaults of built-in kinds that users and controllers notice, as kube-apiserver's SetDefaults_*
// functions, and what its registry strategies fill in on creation.
#ifndef SANDBOX_BUILTIN_DEFAULTS_H_
#define SANDBOX_BUILTIN_DEFAULTS_H_

#include "kube/meta/object.h"
#include "sandbox/resource_info.h"

namespace sandbox {

// Fills absent fields; runs on every write.
void ApplyBuiltinDefaults(const ResourceInfo& info, kube::Object& object);
// What only creation sets: initial status, a namespace's finalizer, a Job's selector. REQUIRES: the
// object has its uid.
void PrepareBuiltinForCreate(const ResourceInfo& info, kube::Object& object);

// Shared by the workload kinds.
void DefaultPodTemplate(json::Value& pod_template);
void DefaultPodSpec(json::Value& spec);

// Sets the member when it is absent or null.
void DefaultTo(json::Value& object, absl::string_view name, json::Value value);

}  // namespace sandbox

#endif  // SANDBOX_BUILTIN_DEFAULTS_H_
