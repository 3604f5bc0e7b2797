// Feeds the template queue with changes of the objects that can be templates.
#ifndef DETECTOR_TEMPLATE_SOURCE_H_
#define DETECTOR_TEMPLATE_SOURCE_H_

#include <set>
#include <vector>

#include "absl/base/thread_annotations.h"
#include "absl/container/flat_hash_set.h"
#include "absl/synchronization/mutex.h"
#include "detector/kind_reports.h"
#include "detector/new_kinds.h"
#include "detector/policy_index.h"
#include "detector/template_filter.h"
#include "detector/template_memory.h"
#include "kube/runtime/handler_registration.h"
#include "kube/runtime/manager.h"
#include "kube/runtime/watched_kinds.h"
#include "kube/runtime/work_queue.h"

namespace detector {

// Asks for each kind that a policy selects or a binding refers to, unless it is excluded: a control
// plane serves dozens of kinds, and watching one that nobody propagates would cost a connection and
// a copy of every object for nothing. A new kind waits until clusters serve it too (NewKinds),
// unless a binding refers to it already.
class TemplateSource : public kube::KindSubscriber {
 public:
  struct Deps {
    kube::Manager& manager;
    TemplateFilter filter;
    const PolicyIndex& policies;
    const PolicyIndex& cluster_policies;
    TemplateMemory& memory;
    kube::WorkQueue& queue;
    absl::Duration cluster_status_round;  // How often clusters report which kinds they serve.
  };
  // Follows policies and bindings from now on. REQUIRES: `kinds` and what is in `deps` outlive the
  // source.
  TemplateSource(Deps deps, kube::WatchedKinds& kinds);

  kube::EventHandler HandlerFor(const kube::Resource& resource) override;
  void OnDiscovered(const std::set<kube::Gvk>& served) override;
  void OnUnwatched(const kube::Gvk& gvk) override { deps_.memory.ForgetKind(gvk); }
  bool MayWatch(const kube::Gvk& gvk) override;

 private:
  // Returns the kinds that the policy's selectors name, without the excluded ones.
  std::set<kube::Gvk> SelectedBy(const kube::Object& policy) const;
  kube::EventHandler ReportHandler();
  // Selecting returns the policies that select objects of the kind, ClustersFor the clusters that
  // these policies may choose.
  std::vector<kube::ObjectPtr> Selecting(const kube::Gvk& gvk) const;
  std::vector<kube::ObjectPtr> ClustersFor(const std::vector<kube::ObjectPtr>& policies) const;
  std::set<kube::Gvk> BoundBy(const kube::Object& binding);
  void OnUpdate(kube::Request request, const kube::Object& before, const kube::Object& after);

  const Deps deps_;
  KindReports reports_;
  NewKinds new_kinds_;  // It and `served_` belong to the thread that runs the kinds.
  std::set<kube::Gvk> served_;
  absl::Mutex mu_;
  absl::flat_hash_set<kube::Gvk> bound_ ABSL_GUARDED_BY(mu_);
  kube::WatchedKinds::Subscription subscription_;
  std::vector<kube::HandlerRegistration> followed_;  // These use the subscription.
};

}  // namespace detector

#endif  // DETECTOR_TEMPLATE_SOURCE_H_
