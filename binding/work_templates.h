// Makes of a binding and its template the Works it stands for: pure functions but for the
// interpreter.
#ifndef BINDING_WORK_TEMPLATES_H_
#define BINDING_WORK_TEMPLATES_H_

#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "api/binding.h"
#include "api/binding_scope.h"
#include "interpreter/interpreter.h"
#include "kube/meta/object.h"
#include "works/work_writer.h"

namespace binding {

// Completions of a Job per target cluster, in the order of `targets`; empty when the template is no
// Job whose completions are to be divided (upstream's divideReplicasByJobCompletions).
std::vector<int64_t> DividedCompletions(const kube::Object& object, const api::BindingView& binding,
                                        const std::vector<api::TargetCluster>& targets);

// The template as one cluster shall get it: its share of the replicas and completions
// (`completions` < 0: they are not divided). Overrides will be applied to this result.
// kInvalidArgument when a rule changes which object it is.
absl::StatusOr<kube::Object> ManifestFor(const kube::Object& object,
                                         const api::BindingView& binding,
                                         const api::TargetCluster& target, int64_t completions,
                                         const interpreter::Interpreter& interpreter);

// The Work of one cluster; named after the manifest.
template <class Scope>
works::WorkTemplate WorkFor(const kube::Object& manifest, const api::BindingView& binding,
                            const std::string& cluster);

}  // namespace binding

#endif  // BINDING_WORK_TEMPLATES_H_
