// Finds the objects that the pods of a workload refer to.
#ifndef INTERPRETER_NATIVE_POD_DEPENDENCIES_H_
#define INTERPRETER_NATIVE_POD_DEPENDENCIES_H_

#include "absl/container/inlined_vector.h"
#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"
#include "base/json.h"
#include "interpreter/native/typed_fields.h"
#include "kube/meta/object.h"

namespace interpreter::native {

// Names that a pod spec refers to, sorted, each once. The names are views into the pod spec.
struct PodReferences {
  using Names = absl::InlinedVector<absl::string_view, 8>;
  Names config_maps, secrets, service_accounts, volume_claims;
};
// Wrong types are reported in `pod_spec.error()`.
PodReferences ReferencesOf(Fields& pod_spec);

// Returns DependentObjectReferences in namespace `ns`: ConfigMaps, Secrets, ServiceAccounts,
// PersistentVolumeClaims. (Upstream's order inside a kind is random.) Null when there are none.
json::Value DependenciesIn(absl::string_view ns, const PodReferences& references);

// Returns the dependencies of spec.template.
absl::StatusOr<json::Value> TemplateDependencies(const kube::Object& object);

}  // namespace interpreter::native

#endif  // INTERPRETER_NATIVE_POD_DEPENDENCIES_H_
