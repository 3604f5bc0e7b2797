// What a plan makes of works/passage.h: whether a state of a template may reach clusters.
//
// A live binding records by version and generation which state of its template has passed. A
// template that was taken over has others, so its binding gets a record that says the same here.
#ifndef LENS_PLAN_PASSAGES_H_
#define LENS_PLAN_PASSAGES_H_

#include <set>
#include <string>
#include <vector>

#include "absl/status/status.h"
#include "interpreter/interpreter.h"
#include "kube/meta/names.h"
#include "kube/meta/object.h"
#include "lens/plan/dry_loops.h"
#include "lens/plan/live_reader.h"
#include "lens/plan/outcome.h"
#include "sandbox/storage/backend.h"

namespace lens::plan {

// Returns the live bindings whose templates' present states have passed.
std::set<kube::ObjectKey> PassedBindings(const LiveState& live);

// Makes the binding record that the state which its template has on the simulated control plane
// has passed, or that none of its states has. A binding that was made by hand follows its template
// and is left as it is, as is one whose template does not exist there.
absl::Status RecordPassage(sandbox::Backend& backend, bool has_passed, kube::Object& binding);

// Sets `held_back` of each template of `out` whose present state may not reach clusters. `state` is
// what `out` was read from, and `warnings` are those of the loops.
void AddHeldBack(const State& state, const std::vector<LoopWarning>& warnings,
                 const interpreter::Interpreter& interpreter, Outcome& out);

// Returns the message of the loops' warning that a policy could not be applied to the template; ""
// when there is none.
std::string PolicyFailure(const std::vector<LoopWarning>& warnings, const ObjectId& id);

}  // namespace lens::plan

#endif  // LENS_PLAN_PASSAGES_H_
