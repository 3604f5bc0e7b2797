// Feeds the template queue with changes of the objects that can be templates.
#ifndef DETECTOR_TEMPLATE_SOURCE_H_
#define DETECTOR_TEMPLATE_SOURCE_H_

#include <atomic>
#include <memory>
#include <set>
#include <vector>

#include "detector/kind_reports.h"
#include "detector/late_kinds.h"
#include "detector/new_kinds.h"
#include "detector/policy_index.h"
#include "detector/template_filter.h"
#include "detector/template_memory.h"
#include "kube/runtime/handler_registration.h"
#include "kube/runtime/manager.h"
#include "kube/runtime/watched_kinds.h"
#include "kube/runtime/work_queue.h"
#include "works/edit_times.h"

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
    works::EditTimes* edit_times = nullptr;
  };
  // Follows policies and bindings from now on. REQUIRES: `kinds` and what is in `deps` outlive the
  // source.
  TemplateSource(Deps deps, kube::WatchedKinds& kinds);

  kube::EventHandler HandlerFor(const kube::Resource& resource) override;
  void OnStart() override { is_working_ = true; }
  void OnDiscovered(const kube::ServedKinds& served) override;
  void OnUnwatched(const kube::Gvk& gvk) override { deps_.memory.ForgetKind(gvk); }
  bool MayWatch(const kube::Gvk& gvk) override;

 private:
  // Returns the kinds that the policy's selectors name, without the excluded ones.
  std::set<kube::Gvk> SelectedBy(const kube::Object& policy) const;
  // Returns whether the template's binding shows that it was edited since its state has passed.
  bool IsEdited(const kube::Object& object) const;
  RefusedSelectors RefusedBy(const kube::Object& policy) const;
  // Reports clusters that a policy names for the first time and that do not exist. Nothing is said
  // of policies that were there when this process began to work.
  void ReportAbsentClusters(const kube::Object& policy);
  kube::EventHandler ReportHandler();
  kube::EventHandler ClusterHandler();
  // Selecting returns the policies that select objects of the kind, ClustersFor the clusters that
  // these policies may choose.
  std::vector<kube::ObjectPtr> Selecting(const kube::Gvk& gvk) const;
  std::vector<kube::ObjectPtr> ClustersFor(const std::vector<kube::ObjectPtr>& policies) const;
  std::set<kube::Gvk> BoundBy(const kube::Object& binding) const;
  // Returns whether a binding refers to objects of the kind.
  bool IsBound(const kube::Gvk& gvk) const;
  // Returns the request for a template that was there already when its kind began to be watched, or
  // that a resync hands out: nobody has edited it just now.
  kube::Request ListedRequest(const kube::Gvk& gvk, const kube::Object& object) const;
  void OnUpdate(kube::Request request, const kube::Object& before, const kube::Object& after);

  const Deps deps_;
  KindReports reports_;
  LateKinds late_kinds_;
  NewKinds new_kinds_;  // It and `served_` belong to the thread that runs the kinds.
  kube::ServedKinds served_;
  const std::shared_ptr<kube::Informer> clusters_;
  std::atomic<bool> is_working_ = false;  // False on a stand-by.
  const kube::WatchedKinds& kinds_;
  kube::WatchedKinds::Subscription subscription_;
  std::vector<kube::HandlerRegistration> followed_;  // These use the subscription.
};

}  // namespace detector

#endif  // DETECTOR_TEMPLATE_SOURCE_H_
