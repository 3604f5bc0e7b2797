// CustomResourceDefinitions: what makes one valid, the status the server gives it, and the
// resources it makes the server serve.
#ifndef SANDBOX_KINDS_CUSTOM_DEFINITIONS_H_
#define SANDBOX_KINDS_CUSTOM_DEFINITIONS_H_

#include <vector>

#include "kube/meta/object.h"
#include "sandbox/kinds/api_errors.h"
#include "sandbox/kinds/resource_info.h"

namespace sandbox {

inline constexpr char kCleanupFinalizer[] = "customresourcecleanup.apiextensions.k8s.io";

GroupName DefinitionTable();
bool IsDefinitionKind(const ResourceInfo& info);

// Defaults of the spec, accepted names, Established, stored versions. No-op for other kinds.
void PrepareDefinition(const ResourceInfo& info, const kube::Object& old_object,
                       kube::Object& object);
// No-op for other kinds.
void ValidateDefinition(const ResourceInfo& info, const kube::Object& object, FieldErrors& errors);

// One entry for each served version, the newest stable one first.
std::vector<ResourceInfo> ServedBy(const kube::Object& definition);

}  // namespace sandbox

#endif  // SANDBOX_KINDS_CUSTOM_DEFINITIONS_H_
