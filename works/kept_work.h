// The Work whose manifest a cluster keeps while the present state of the template has not passed
// (works/passage.h).
#ifndef WORKS_KEPT_WORK_H_
#define WORKS_KEPT_WORK_H_

#include <string>
#include <vector>

#include "api/binding.h"
#include "kube/cache/cluster_client.h"
#include "kube/meta/object.h"

namespace works {

// The index of Works that finds the stand-ins for a Work by "<namespace>/<name>" of that one.
inline constexpr char kStandInIndex[] = "stands-in-for";
std::vector<std::string> StandsInFor(const kube::Object& work);

// Returns the binding's Work in the cluster, unless it is being deleted; while none is there, the
// latest stand-in for one (api/stand_in.h): the cluster still has its objects, which the next Work
// takes over. Nullptr when there is neither, so that the cluster gets the template as it is.
// REQUIRES: Works are declared as read, with kStandInIndex.
template <class Scope>
kube::ObjectPtr WorkToKeep(kube::ClusterClient& control_plane, const api::BindingView& binding,
                           const std::string& cluster);

}  // namespace works

#endif  // WORKS_KEPT_WORK_H_
