// Reports that objects are in no cluster although a cluster has begun to serve their kind.
//
// Karmada's scheduler looks at a binding again when the binding changes, or labels or spec of a
// cluster do, not when a cluster begins to serve a kind. An object that was bound before stays
// unscheduled, and its last event says that no cluster serves its kind, which is not true any more.
#ifndef DETECTOR_LATE_KINDS_H_
#define DETECTOR_LATE_KINDS_H_

#include <set>

#include "detector/policy_index.h"
#include "kube/meta/names.h"
#include "kube/meta/object.h"
#include "kube/runtime/event_recorder.h"
#include "kube/runtime/manager.h"

namespace detector {

// Thread-safe. Nothing is remembered: a kind that a cluster begins to serve while this process does
// not work is not reported.
class LateKinds {
 public:
  // Adds an index to the informers of bindings. REQUIRES: the manager and both indexes outlive this
  // object.
  LateKinds(kube::Manager& manager, const PolicyIndex& policies,
            const PolicyIndex& cluster_policies);

  // Takes both states of a Cluster that was updated. Policies with objects that are in no cluster
  // because of their kind, which this cluster has begun to serve, get a warning; further clusters
  // add none for ten minutes, because the event is equal (kube::EventSink). A cluster that has only
  // joined or is not ready gives no reason: the scheduler looks again when it becomes ready. The
  // cost is proportional to the number of objects that it may concern.
  void OnClusterUpdated(const kube::Object& before, const kube::Object& after);

 private:
  // A policy, and a kind that it selects.
  struct Concerned {
    kube::ObjectKey policy;
    kube::Gvk kind;
    friend auto operator<=>(const Concerned&, const Concerned&) = default;
  };
  std::set<Concerned> ConcernedBy(const std::set<kube::Gvk>& begun,
                                  const kube::Object& cluster) const;

  kube::Manager& manager_;
  const PolicyIndex& policies_;
  const PolicyIndex& cluster_policies_;
  kube::EventRecorder recorder_;
};

}  // namespace detector

#endif  // DETECTOR_LATE_KINDS_H_
