// Which templates have their pods counted again, and when: the rules that count them have changed.
#ifndef DETECTOR_RECOUNT_H_
#define DETECTOR_RECOUNT_H_

#include "detector/policy_index.h"
#include "detector/waiting_set.h"
#include "interpreter/interpreter.h"
#include "kube/meta/object.h"
#include "kube/runtime/reconciler.h"
#include "kube/runtime/work_queue.h"

namespace detector {

// From now on a change of the rules that count pods queues the uncounted templates of the kinds it
// touches. (Those without a binding are found in no other way, and their back-off may be long by
// then.) REQUIRES: `uncounted` and `templates` outlive the interpreter.
void RequeueUncounted(const interpreter::Interpreter& interpreter, const WaitingSet& uncounted,
                      kube::WorkQueue& templates);

// Returns the request for the template of a binding whose pods may be counted otherwise now.
kube::Request RecountRequest(const kube::Object& binding, const PolicyIndex& policies,
                             const PolicyIndex& cluster_policies);

}  // namespace detector

#endif  // DETECTOR_RECOUNT_H_
