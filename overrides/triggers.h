// Wakes the loops that apply override policies: queues what a change of a policy, or of a cluster's
// labels, provider, region or zones, may concern.
#ifndef OVERRIDES_TRIGGERS_H_
#define OVERRIDES_TRIGGERS_H_

#include "kube/meta/names.h"
#include "kube/runtime/controller.h"
#include "kube/runtime/manager.h"

namespace overrides {

// From now on, while this process leads, a change queues the bindings whose template the policy may
// select, by the state before or after the change; after a change of a cluster, only those bindings
// that are dispatched to it, and only for policies with a rule that the change may switch on or off
// there (upstream's newOverridePolicyFunc; upstream does not watch clusters for this). Labels of
// templates are not compared, because their kinds may not be cached. `bindings` is the resource of
// either scope. The controller keeps the handlers. REQUIRES: the manager outlives the controller.
void QueueBindings(kube::Manager& manager, const kube::Resource& bindings,
                   kube::Controller& controller);

// Does for namespaces what QueueBindings does for bindings: a change of a ClusterOverridePolicy
// queues the Namespaces that it may select, and a change of a cluster queues a request with that
// `cluster`.
void QueueNamespaces(kube::Manager& manager, kube::Controller& controller);

}  // namespace overrides

#endif  // OVERRIDES_TRIGGERS_H_
