// Which tainted clusters a workload has left once: an annotation of its binding, which
// distinguishes the first eviction from that of a workload that has returned.
#ifndef CONTROLLERS_GRACEFUL_EVICTION_LEFT_TAINTED_H_
#define CONTROLLERS_GRACEFUL_EVICTION_LEFT_TAINTED_H_

#include <map>
#include <string>

#include "absl/time/time.h"
#include "kube/meta/object.h"

namespace controllers {

// For each cluster, when the last of the taints was added because of which the workload has left.
using LeftTainted = std::map<std::string, absl::Time>;

// Reads the annotation; what cannot be read counts as not there.
LeftTainted LeftTaintedClusters(const kube::Object& binding);

// Writes the annotation, or removes it when nothing has been left. One that says the same stays as
// it is.
void SetLeftTaintedClusters(kube::Object& binding, const LeftTainted& left);

}  // namespace controllers

#endif  // CONTROLLERS_GRACEFUL_EVICTION_LEFT_TAINTED_H_
