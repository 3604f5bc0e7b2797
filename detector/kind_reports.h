// Reports, on policies, why objects of a kind are not propagated (yet).
#ifndef DETECTOR_KIND_REPORTS_H_
#define DETECTOR_KIND_REPORTS_H_

#include <map>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "absl/base/thread_annotations.h"
#include "absl/synchronization/mutex.h"
#include "base/clock.h"
#include "detector/policy_index.h"
#include "detector/refused_selectors.h"
#include "detector/unserved_kinds.h"
#include "kube/meta/names.h"
#include "kube/meta/object.h"
#include "kube/runtime/event_recorder.h"
#include "kube/runtime/manager.h"

namespace detector {

// SetSelected, SetRefused and ReportAbsentClusters are thread-safe; the other functions belong to
// the thread that runs the kinds. Findings about policies and kinds that were there before this
// process began to work are only logged, so that neither a restart nor a change of the leader
// writes events.
class KindReports {
 public:
  // REQUIRES: the manager and both indexes outlive this object.
  KindReports(kube::Manager& manager, const PolicyIndex& policies,
              const PolicyIndex& cluster_policies);

  // Records that the policy selects these kinds from now on. An empty set stands for a policy that
  // is gone.
  void SetSelected(const kube::ObjectKey& policy, const std::set<kube::Gvk>& kinds, bool at_start) {
    unserved_.SetSelected(policy, kinds, at_start);
  }
  // Reports on the policy, which was added or changed, that some of its selectors match nothing.
  // Those that cannot be judged yet are judged after later rounds of discovery.
  void SetRefused(const kube::Object& policy, const RefusedSelectors& refused, bool at_start);
  // Reports on the policy, which was added or changed, that its placement names clusters which do
  // not exist. `absent` is what api::AbsentClusters returns.
  void ReportAbsentClusters(const kube::Object& policy, const std::vector<std::string>& absent);
  // Takes the result of the last round of discovery: a policy that names a kind which is not served
  // gets a warning.
  void SetServed(const kube::ServedKinds& served);
  // Records that templates of the kind wait for clusters to serve it. When the wait lasts, each
  // policy that selects the kind gets one event.
  struct Wait {
    kube::Gvk kind;
    std::vector<kube::ObjectPtr> policies;
    std::vector<std::string> clusters;  // The clusters that do not serve the kind yet.
    bool at_start = false;  // True when the kind was served before this process began to work.
    bool listed = false;    // True when one of the clusters serves the kind.
  };
  void SetWaiting(const Wait& wait);
  bool IsWaiting(const kube::Gvk& kind) const { return waiting_.contains(kind); }
  // Records that templates of the kind do not wait (any more). The policies that got an event about
  // the wait get one about its end.
  void SetWaitOver(const Wait& wait);

 private:
  struct Known {
    base::SteadyTime since;
    // The policies that have an event about the wait, with their UIDs.
    std::set<std::pair<kube::ObjectKey, std::string>> begun;
  };
  // The kinds of a namespaced policy whose scope is not known yet.
  struct Undecided {
    std::set<kube::Gvk> kinds;
    bool at_start = false;
  };
  // Returns nullptr when the policy is gone or being deleted.
  kube::ObjectPtr Policy(const kube::ObjectKey& key) const;
  // Logs that these policies name a kind which is not served, and writes a warning on each unless
  // `at_start`.
  void Report(const std::vector<kube::ObjectPtr>& policies, const std::string& message,
              bool at_start);
  // Logs why selectors of the policy match nothing, and writes a warning on it unless `at_start`.
  void ReportRefused(const kube::Object& policy, const std::vector<std::string>& reasons,
                     bool at_start);
  // Judges the selectors that could not be judged before.
  void DecideRefused();

  kube::Manager& manager_;
  const PolicyIndex& policies_;
  const PolicyIndex& cluster_policies_;
  kube::EventRecorder recorder_;
  UnservedKinds unserved_;
  std::map<kube::Gvk, Known> waiting_;
  absl::Mutex mu_;
  std::map<kube::ObjectKey, Undecided> undecided_ ABSL_GUARDED_BY(mu_);
};

}  // namespace detector

#endif  // DETECTOR_KIND_REPORTS_H_
