// Why the Pods of a workload do not run in a member, by what the Pods say themselves. They were
// read where the workload has arrived and is not well: one page of them for each cluster.
#ifndef LENS_WHY_PODS_H_
#define LENS_WHY_PODS_H_

#include <cstdint>
#include <string>
#include <vector>

#include "kube/meta/names.h"
#include "kube/meta/object.h"
#include "lens/why/chain.h"

namespace lens::why {

// So many Pods of a workload are read in a cluster at most.
inline constexpr int64_t kMostPods = 50;

// Returns whether a workload of the kind makes Pods that its selector finds.
bool MakesPods(const kube::Gvk& gvk);

// Returns the selector of the workload's Pods, as a query; "" when it selects none, or everything.
std::string PodSelectorOf(const kube::Object& workload);

// Returns whether the Pods of the workload say why it is not well in the cluster: it is there, and
// is not healthy; or it is a Job that has not completed.
bool ArePodsOfInterest(const Chain& chain, const std::string& cluster, const kube::Object& work);

struct PodTrouble {
  std::string text;    // "2 of its 3 Pods cannot be scheduled (0/4 nodes are available)".
  std::string advice;  // A sentence without its full stop.
};

// Returns what keeps Pods of the workload from running in the cluster, what concerns most of them
// first; none when they say nothing, or were not read.
std::vector<PodTrouble> PodTroublesIn(const Chain& chain, const std::string& cluster);

// Returns why the Pods could not be read in the cluster, as where it does not answer; "" when they
// were, or nobody asked.
std::string WhyPodsUnread(const Chain& chain, const std::string& cluster);

}  // namespace lens::why

#endif  // LENS_WHY_PODS_H_
