// What the pods of a workload refer to.
#ifndef INTERPRETER_NATIVE_POD_DEPENDENCIES_H_
#define INTERPRETER_NATIVE_POD_DEPENDENCIES_H_

#include "absl/container/inlined_vector.h"
#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"
#include "base/json.h"
#include "interpreter/native/typed_fields.h"
#include "kube/meta/object.h"

namespace interpreter::native {

// Names a pod spec refers to, sorted, each once. Views into the pod spec.
struct PodReferences {
  using Names = absl::InlinedVector<absl::string_view, 8>;
  Names config_maps, secrets, service_accounts, volume_claims;
};
// Wrong types go to the errors of the pod spec.
PodReferences ReferencesOf(Fields& pod_spec);

// DependentObjectReferences in namespace `ns`: ConfigMaps, Secrets, ServiceAccounts, claims.
// (Upstream's order inside a kind is random.) Null when there are none.
json::Value DependenciesIn(absl::string_view ns, const PodReferences& references);

// The dependencies of spec.template.
absl::StatusOr<json::Value> TemplateDependencies(const kube::Object& object);

}  // namespace interpreter::native

#endif  // INTERPRETER_NATIVE_POD_DEPENDENCIES_H_
