// Which bindings no loop acts on.
#ifndef WORKS_REFUSED_BINDINGS_H_
#define WORKS_REFUSED_BINDINGS_H_

#include "base/stop_token.h"
#include "kube/cache/cluster_client.h"
#include "kube/meta/object.h"

namespace works {

// Returns whether the binding names an object that it may not stand for (api::CheckBindingResource)
// by its namespace, or by the kind as the control plane serves it; a kind that cannot be found
// refuses nothing. The binding loop says so in an event; every other loop leaves the binding alone
// and mentions it nowhere.
bool IsRefused(kube::ClusterClient& control_plane, const kube::Object& binding,
               const base::StopToken& stop);

}  // namespace works

#endif  // WORKS_REFUSED_BINDINGS_H_
