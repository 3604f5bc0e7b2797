// Makes the Works of a binding from the binding and its template: pure functions, except that they
// ask the interpreter.
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

// Returns the completions of a Job for each target cluster, in the order of `targets`; empty when
// the template is not a Job whose completions are to be divided (upstream's
// divideReplicasByJobCompletions).
std::vector<int64_t> DividedCompletions(const kube::Object& object, const api::BindingView& binding,
                                        const std::vector<api::TargetCluster>& targets);

// Returns the template as one cluster shall get it: with its share of the replicas and completions
// (`completions` < 0: they are not divided). Override policies are applied to this result.
// kInvalidArgument when a rule changes kind, namespace or name.
absl::StatusOr<kube::Object> ManifestFor(const kube::Object& object,
                                         const api::BindingView& binding,
                                         const api::TargetCluster& target, int64_t completions,
                                         const interpreter::Interpreter& interpreter);

// Sets the labels that an eviction has preserved of a failed cluster (api::PreservedStateFor). For
// the gate StatefulFailoverInjection.
void InjectPreservedState(const api::BindingView& binding, const std::string& cluster,
                          kube::Object& manifest);

// Returns the Work of one cluster; it is named after the manifest.
template <class Scope>
works::WantedWork WorkFor(const kube::Object& manifest, const api::BindingView& binding,
                          const std::string& cluster);

}  // namespace binding

#endif  // BINDING_WORK_TEMPLATES_H_
