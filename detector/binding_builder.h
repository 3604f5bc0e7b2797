// Builds the binding that a template and its policy ask for: pure functions on JSON.
#ifndef DETECTOR_BINDING_BUILDER_H_
#define DETECTOR_BINDING_BUILDER_H_

#include <utility>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "base/json.h"
#include "detector/scheduling_hints.h"
#include "interpreter/interpreter.h"
#include "kube/meta/object.h"

namespace detector {

// What a template's pods ask for according to the interpreter: either replicas, or, for a kind made
// of several pod templates, components (work/v1alpha2 Component; null for none).
struct PodDemand {
  PodDemand(interpreter::Replicas r = {}) : replicas(std::move(r)) {}  // NOLINT: is one.
  interpreter::Replicas replicas;
  json::Value components;
};

// Returns a new binding for `object`, claimed by `policy` (of PolicyScope). Its kind follows the
// template: a ResourceBinding for a namespaced one, else a ClusterResourceBinding.
template <class PolicyScope>
kube::Object BuildBinding(const kube::Object& object, const kube::Object& policy,
                          const PodDemand& demand, const SchedulingHints& hints = {});

// kInvalidArgument when the name of a binding that BuildBinding returned is too long for the API
// server; the error says how long the template's name may be.
absl::Status CheckBindingName(const kube::Object& built);

// Returns `existing` with what the detector owns taken from `built` (upstream's ApplyPolicy and
// ApplyClusterPolicy): labels, annotations and finalizers merged, owner references and the policy's
// and the template's spec fields replaced, everything else kept. kFailedPrecondition when
// `existing` belongs to another object, which the error names: one of another kind or name whose
// binding has the same name, or an earlier template that is still being collected.
template <class PolicyScope>
absl::StatusOr<kube::Object> MergeBinding(const kube::Object& existing, const kube::Object& built);

// Returns whether the two bindings differ only in the recorded resourceVersion of the template, or
// not at all.
bool DifferOnlyInTemplateVersion(const kube::Object& a, const kube::Object& b);

}  // namespace detector

#endif  // DETECTOR_BINDING_BUILDER_H_
