// Works of templates whose present state has not been let pass (works/passage.h): they keep their
// manifests, and follow their binding in everything else.
#ifndef BINDING_HELD_WORKS_H_
#define BINDING_HELD_WORKS_H_

#include "absl/status/statusor.h"
#include "api/binding.h"
#include "interpreter/interpreter.h"
#include "kube/meta/object.h"
#include "works/passage.h"
#include "works/work_writer.h"

namespace binding {

// Returns what the Work is to be after `last`, the cluster's Work or a stand-in for it
// (works/kept_work.h). It keeps the manifest, with the cluster's share of the replicas, since the
// scheduler, which moves replicas to other clusters, is not held back, unless the overrides that
// were applied to it determine them. Labels, annotations, suspension and preservation follow from
// the binding, and so does conflict resolution unless an applied override or the template's
// annotation determines it. Errors are those of the interpreter.
template <class Scope>
absl::StatusOr<works::WantedWork> KeptWork(const kube::Object& last,
                                           const api::BindingView& binding,
                                           const kube::Object& object,
                                           const api::TargetCluster& target,
                                           const interpreter::Interpreter& interpreter);

// Returns whether a Work that was made of the template although it was held back is worth an event:
// unless its state is the one that passed last.
bool IsUnpassedState(works::Passage passage, const api::BindingView& binding,
                     const kube::Object& object);

}  // namespace binding

#endif  // BINDING_HELD_WORKS_H_
