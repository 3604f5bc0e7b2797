// CustomResourceDefinitions: validates them, sets their status as the server does, and returns the
// resources that they define.
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

// Sets defaults of the spec, accepted names, Established and stored versions. Does nothing for
// other kinds.
void PrepareDefinition(const ResourceInfo& info, const kube::Object& old_object,
                       kube::Object& object);
// Does nothing for other kinds.
void ValidateDefinition(const ResourceInfo& info, const kube::Object& object, FieldErrors& errors);

// Returns one entry for each served version, the newest stable one first.
std::vector<ResourceInfo> ServedBy(const kube::Object& definition);

}  // namespace sandbox

#endif  // SANDBOX_KINDS_CUSTOM_DEFINITIONS_H_
