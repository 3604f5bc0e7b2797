// What a ResourceRegistry may be: decoding as strict as upstream's Go types, defaults, and
// validation with upstream's messages (pkg/apis/search/validation).
#ifndef SEARCH_REGISTRY_REGISTRY_RULES_H_
#define SEARCH_REGISTRY_REGISTRY_RULES_H_

#include <string>
#include <vector>

#include "absl/status/status.h"
#include "kube/meta/object.h"
#include "kube/server/api_errors.h"
#include "kube/server/fields/field_versions.h"
#include "kube/server/object_rules.h"
#include "kube/server/write_request.h"

namespace search {

// The resource as messages of the API name it, and its kind.
const kube::server::GroupName& RegistryResourceName();
const kube::server::GroupName& RegistryKindName();

// Its metadata rules: there is no generation, as upstream has none, and managedFields are kept.
const kube::server::ObjectRules& RegistryRules();

// The kind as managedFields and server-side apply know it.
kube::server::FieldKind RegistryFields();

// Decodes a body: drops and reports unknown fields, refuses wrong types (400), normalizes metadata
// and sets what upstream's encoder always writes (spec.targetCluster, spec.resourceSelectors,
// status).
absl::Status DecodeRegistry(kube::Object& object, kube::server::FieldValidation validation,
                            std::vector<std::string>* warnings);

// Collects the mistakes in metadata and spec. REQUIRES: the object has been decoded.
void ValidateRegistry(const kube::Object& object, kube::server::FieldErrors& errors);

}  // namespace search

#endif  // SEARCH_REGISTRY_REGISTRY_RULES_H_
