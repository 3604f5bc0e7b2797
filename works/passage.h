// Whether the present state of a template may be put into clusters: the one place that decides it,
// for the detector, the binding's loop and karmada-lens. (The detector's HasPassedOrLater adds a
// rule about older states, for itself.)
#ifndef WORKS_PASSAGE_H_
#define WORKS_PASSAGE_H_

#include <vector>

#include "absl/functional/function_ref.h"
#include "api/binding.h"
#include "interpreter/interpreter.h"
#include "kube/cache/cluster_client.h"
#include "kube/meta/object.h"

namespace works {

enum class Passage {
  kPassed,    // Manifests follow the template.
  kHeldBack,  // A policy governs it, and the detector has not let its present state pass.
  kReleased,  // No policy governs it any more: clusters keep what they have.
};

// Returns whether PassageOf is kReleased, which follows from the binding alone.
bool IsReleased(const api::BindingView& binding);

// Returns the Works of a binding in the clusters that it names as targets.
using FindWorks = absl::FunctionRef<std::vector<kube::ObjectPtr>()>;

// Returns what may be done with the template's present state. A template without a policy passes if
// other bindings require its binding (the dependencies distributor lets them pass), if a
// MultiClusterService made the binding, or if the binding has never recorded a version of the
// template, as one that was made by hand. `find` is called only if HasPassed calls it.
// REQUIRES: `object` is the binding's template.
Passage PassageOf(const api::BindingView& binding, const kube::Object& object, FindWorks find,
                  const interpreter::Interpreter& interpreter);

// Returns whether the detector has let the template's present state pass, for a binding that it
// writes. The binding's record decides (api/passed_template.h). A binding without one is
// upstream's: then the version of the template in spec.resource decides, and if that differs, the
// Works, which must be there and must all have been made of the present state: their manifests
// record the template's generation, and where there is none, they have its content. False if the
// binding is of an earlier object of that name.
bool HasPassed(const api::BindingView& binding, const kube::Object& object, FindWorks find,
               const interpreter::Interpreter& interpreter);

// Returns the Works of the binding's targets that the cache shows. REQUIRES: the cache has Works.
std::vector<kube::ObjectPtr> TargetWorks(const api::BindingView& binding,
                                         kube::ClusterClient& control_plane);

}  // namespace works

#endif  // WORKS_PASSAGE_H_
