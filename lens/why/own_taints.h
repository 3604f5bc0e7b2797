// The taints of a Cluster that keep templates away from it.
#ifndef LENS_WHY_OWN_TAINTS_H_
#define LENS_WHY_OWN_TAINTS_H_

#include <string>
#include <vector>

#include "kube/meta/object.h"
#include "lens/why/chain.h"
#include "lens/why/checks.h"

namespace lens::why {

// Returns "zone=edge:NoSchedule" for each taint with an effect on templates that do not tolerate
// it.
std::vector<std::string> TaintsThatKeepAway(const kube::Object& cluster);

// Notes each of them, with since when it is there and who sets it, as far as that is known.
Findings ClusterIsTainted(const Chain& chain);

}  // namespace lens::why

#endif  // LENS_WHY_OWN_TAINTS_H_
