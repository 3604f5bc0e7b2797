// Finds the objects that references to dependencies are about.
#ifndef CONTROLLERS_DEPENDENCIES_DEPENDENCY_OBJECTS_H_
#define CONTROLLERS_DEPENDENCIES_DEPENDENCY_OBJECTS_H_

#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"
#include "api/dependencies.h"
#include "base/stop_token.h"
#include "kube/cache/cluster_client.h"
#include "kube/meta/object.h"

namespace controllers {

// Returns a terminal error about a reference that does not say what it is about. OK while its kind
// is not served: ObjectsOf reports that.
absl::Status CheckReference(kube::ClusterClient& client, const api::DependentReference& reference,
                            const base::StopToken& stop);

// Returns a terminal error about a reference to objects that are not in `ns`, the namespace of the
// template. Those in another one are not the template's author's to bring into members, nor to take
// from them, and no more are those without a namespace, which several namespaces would share; for
// these a ClusterPropagationPolicy is needed. (Upstream lets the latter follow.)
absl::Status CheckFollows(const api::DependentReference& reference, absl::string_view ns);

// Returns the objects that exist. Those that a selector chooses are read from the cache alone:
// until their kind is watched there are none. REQUIRES: CheckReference has found no error.
absl::StatusOr<std::vector<kube::ObjectPtr>> ObjectsOf(kube::ClusterClient& client,
                                                       const api::DependentReference& reference,
                                                       const base::StopToken& stop);

}  // namespace controllers

#endif  // CONTROLLERS_DEPENDENCIES_DEPENDENCY_OBJECTS_H_
