// Policies and bindings determine the kinds that are needed: their informers' handlers pass each
// new reason, and the end of each, to the subscription. The thread of WatchedKinds reports every
// round of discovery (OnDiscovered), asks about each needed kind that is not watched yet (MayWatch,
// again every half a second while the answer is no), and takes the handler of a kind that it begins
// to watch. A kind to which a binding refers is watched at once, and so is one that is not new;
// NewKinds decides about the others, from the clusters that the kind's policies may choose.
//
// The handlers of templates put requests into the queue. At a start each object comes, and those
// whose binding records another state go first: they were edited while no process led. An update
// that changes the specification is recorded as an edit before its request is queued, so that the
// pass which the request leads to finds the edit. An update that leaves exactly the claim which a
// pass has just written (OwnClaims) is passed over, because that pass goes on with the claimed
// template.
//
// new_kinds_ and served_ belong to the thread of WatchedKinds. After a restart all of this is found
// again in the policies, the bindings and the first round.

#include "detector/template_source.h"

#include <algorithm>
#include <utility>

#include "api/absent_clusters.h"
#include "api/binding.h"
#include "api/binding_address.h"
#include "api/binding_resource.h"
#include "api/cluster_affinity.h"
#include "api/passed_template.h"
#include "api/policy.h"
#include "api/policy_claim.h"
#include "api/policy_scope.h"
#include "api/resources.h"
#include "detector/lazy_activation.h"
#include "detector/request_reason.h"
#include "kube/meta/specification.h"

namespace detector {
namespace {

kube::Request RequestFor(const kube::Gvk& gvk, const kube::Object& object) {
  return {.key = object.key(), .gvk = gvk};
}

// Why a kind is watched.
std::string NamedBy(const kube::Resource& resource) { return "named by " + resource.plural; }

}  // namespace

TemplateSource::TemplateSource(Deps deps, kube::WatchedKinds& kinds)
    : deps_(std::move(deps)),
      reports_(deps_.manager, deps_.policies, deps_.cluster_policies),
      late_kinds_(deps_.manager, deps_.policies, deps_.cluster_policies),
      new_kinds_(deps_.cluster_status_round),
      clusters_(deps_.manager.cluster().informers().Get(api::Clusters())),
      kinds_(kinds),
      subscription_(kinds.Subscribe(*this)) {
  kube::InformerSet& informers = deps_.manager.cluster().informers();
  followed_.emplace_back(clusters_, ClusterHandler());
  const auto follow = [&](const kube::Resource& resource, auto kinds_of) {
    followed_.emplace_back(
        informers.Get(resource),
        kube::NeedKindsOf(subscription_, NamedBy(resource), std::move(kinds_of)));
  };
  for (const auto* policies : {&api::PropagationPolicies(), &api::ClusterPropagationPolicies()}) {
    follow(*policies, [this](const kube::Object& policy) { return SelectedBy(policy); });
    followed_.emplace_back(informers.Get(*policies), ReportHandler());
  }
  for (const auto* bindings : {&api::ResourceBindings(), &api::ClusterResourceBindings()}) {
    follow(*bindings, [this](const kube::Object& binding) { return BoundBy(binding); });
  }
}

std::set<kube::Gvk> TemplateSource::SelectedBy(const kube::Object& policy) const {
  std::set<kube::Gvk> kinds;
  for (const api::ResourceSelector& selector : api::PolicyView(policy).ResourceSelectors()) {
    absl::StatusOr<kube::Gvk> gvk = kube::ParseGvk(selector.api_version(), selector.kind());
    // No server has such an apiVersion, so the policy gets a warning.
    if (!gvk.ok()) gvk = {"", std::string(selector.api_version()), std::string(selector.kind())};
    if (deps_.filter.AllowsResource(*gvk)) kinds.insert(*std::move(gvk));
  }
  return kinds;
}

RefusedSelectors TemplateSource::RefusedBy(const kube::Object& policy) const {
  return FindRefused(policy, deps_.filter, [this](const kube::Gvk& gvk) {
    return deps_.manager.cluster().mapper().Known(gvk);
  });
}

std::set<kube::Gvk> TemplateSource::BoundBy(const kube::Object& binding) const {
  const kube::Gvk gvk = api::BindingView(binding).Resource().gvk();
  if (!deps_.filter.AllowsResource(gvk) || !api::MayStandForResource(binding)) return {};
  return {gvk};
}

bool TemplateSource::IsBound(const kube::Gvk& gvk) const {
  const std::vector<std::string> reasons = kinds_.ReasonsFor(gvk);
  return std::any_of(reasons.begin(), reasons.end(), [](const std::string& reason) {
    return reason == NamedBy(api::ResourceBindings()) ||
           reason == NamedBy(api::ClusterResourceBindings());
  });
}

void TemplateSource::ReportAbsentClusters(const kube::Object& policy) {
  if (!is_working_ || !clusters_->HasSynced()) return;
  reports_.ReportAbsentClusters(
      policy, api::AbsentClusters(policy, [&](absl::string_view name) {
        return clusters_->store().Find({"", std::string(name)}) != nullptr;
      }));
}

kube::EventHandler TemplateSource::ReportHandler() {
  kube::EventHandler handler;
  handler.on_add = [this](const kube::ObjectPtr& policy, bool initial_list) {
    // What the start finds is logged, but no event: it was reported when it was written.
    const bool at_start = initial_list || !is_working_;
    reports_.SetSelected(policy->key(), SelectedBy(*policy), at_start);
    reports_.SetRefused(*policy, RefusedBy(*policy), at_start);
    if (!at_start) ReportAbsentClusters(*policy);
  };
  handler.on_update = [this](const kube::ObjectPtr& before, const kube::ObjectPtr& policy) {
    reports_.SetSelected(policy->key(), SelectedBy(*policy), /*at_start=*/!is_working_);
    if (before->generation() == policy->generation() || policy->IsDeleting()) return;
    reports_.SetRefused(*policy, RefusedBy(*policy), /*at_start=*/!is_working_);
    const bool is_moved = before->spec()["placement"] != policy->spec()["placement"];
    if (is_moved) ReportAbsentClusters(*policy);
  };
  handler.on_delete = [this](const kube::ObjectPtr& last) {
    reports_.SetSelected(last->key(), {}, /*at_start=*/false);
    reports_.SetRefused(*last, {}, /*at_start=*/false);
  };
  return handler;
}

kube::EventHandler TemplateSource::ClusterHandler() {
  kube::EventHandler handler;
  handler.on_update = [this](const kube::ObjectPtr& before, const kube::ObjectPtr& after) {
    if (is_working_) late_kinds_.OnClusterUpdated(*before, *after);
  };
  return handler;
}

void TemplateSource::OnDiscovered(const kube::ServedKinds& served) {
  new_kinds_.SetServed(served.kinds, deps_.manager.clock().SteadyNow());
  reports_.SetServed(served);
  for (const kube::Gvk& gvk : served_.kinds) {
    if (served.kinds.contains(gvk)) continue;
    for (const kube::ObjectPtr& policy : Selecting(gvk)) {
      reports_.SetSelected(policy->key(), SelectedBy(*policy), /*at_start=*/false);
    }
  }
  served_ = served;
}

std::vector<kube::ObjectPtr> TemplateSource::Selecting(const kube::Gvk& gvk) const {
  std::vector<kube::ObjectPtr> policies = deps_.policies.Selecting(gvk);
  for (kube::ObjectPtr& policy : deps_.cluster_policies.Selecting(gvk)) {
    policies.push_back(std::move(policy));
  }
  return policies;
}

std::vector<kube::ObjectPtr> TemplateSource::ClustersFor(
    const std::vector<kube::ObjectPtr>& policies) const {
  std::vector<kube::ObjectPtr> others =
      deps_.manager.cluster().informers().Get(api::Clusters())->store().List();
  std::vector<kube::ObjectPtr> clusters;
  for (const kube::ObjectPtr& policy : policies) {
    if (others.empty()) break;
    const std::vector<api::ClusterAffinity> affinities =
        api::AffinitiesOf(api::PolicyView(*policy).Placement());
    const auto rest = std::partition(others.begin(), others.end(), [&](const auto& cluster) {
      return std::none_of(affinities.begin(), affinities.end(), [&](const auto& affinity) {
        return affinity.Matches(api::ClusterView(*cluster));
      });
    });
    clusters.insert(clusters.end(), rest, others.end());
    others.erase(rest, others.end());
  }
  return clusters;
}

bool TemplateSource::MayWatch(const kube::Gvk& gvk) {
  const bool is_bound = IsBound(gvk);
  if (!reports_.IsWaiting(gvk) && (is_bound || !new_kinds_.IsNew(gvk))) return true;
  const std::vector<kube::ObjectPtr> policies = Selecting(gvk);
  const std::vector<kube::ObjectPtr> clusters = ClustersFor(policies);
  // A wait that was reported ends with a report, also when a binding ends it.
  const bool must_wait =
      !is_bound && new_kinds_.MustWait(gvk, clusters, deps_.manager.clock().SteadyNow());
  const KindReports::Wait wait{gvk, policies, ClustersWithout(gvk, clusters),
                               served_.at_start.contains(gvk), IsListed(gvk, clusters)};
  if (must_wait) {
    reports_.SetWaiting(wait);
  } else {
    reports_.SetWaitOver(wait);
  }
  return !must_wait;
}

kube::EventHandler TemplateSource::HandlerFor(const kube::Resource& resource) {
  const kube::Gvk gvk = resource.gvk;
  kube::EventHandler handler;
  handler.on_add = [this, gvk](const kube::ObjectPtr& object, bool initial_list) {
    if (!deps_.filter.AllowsObject(*object)) return;
    if (initial_list) {
      const int priority = IsEdited(*object) ? kube::kNormalPriority : kube::kInitialListPriority;
      deps_.queue.Add(ListedRequest(gvk, *object), priority);
    } else {
      deps_.queue.Add(RequestFor(gvk, *object));
    }
  };
  handler.on_resync = [add = handler.on_add](const kube::ObjectPtr& object) { add(object, true); };
  handler.on_update = [this, gvk](const kube::ObjectPtr& before, const kube::ObjectPtr& after) {
    if (!deps_.filter.AllowsObject(*after)) return;
    OnUpdate(RequestFor(gvk, *after), *before, *after);
  };
  handler.on_delete = [this, gvk](const kube::ObjectPtr& last) {
    if (deps_.filter.AllowsObject(*last)) deps_.queue.Add(RequestFor(gvk, *last));
  };
  return handler;
}

bool TemplateSource::IsEdited(const kube::Object& object) const {
  const api::BindingAddress at = api::BindingOf(object.kind(), object.key());
  const kube::ObjectPtr binding = deps_.manager.cluster().Find(at.resource, at.key);
  return binding != nullptr &&
         api::CompareWithRecord(*binding, object) == api::PassedRecord::kOther;
}

kube::Request TemplateSource::ListedRequest(const kube::Gvk& gvk,
                                            const kube::Object& object) const {
  kube::Request request = RequestFor(gvk, object);
  // The pass looks for an edit itself, so the reason is right also if no lazy policy is known yet.
  const bool all_known =
      deps_.policies.informer().HasSynced() && deps_.cluster_policies.informer().HasSynced();
  if (!all_known || IsLazilyGoverned(object, deps_.policies, deps_.cluster_policies)) {
    request.reason = kNotByAnEdit;
  }
  return request;
}

void TemplateSource::OnUpdate(kube::Request request, const kube::Object& before,
                              const kube::Object& after) {
  // The status is no reason to propagate.
  if (!kube::SpecificationChanged(before, after)) return;
  // The update is the claim that this process has just written itself.
  if (deps_.memory.claims.Take(request, after)) return;
  const bool is_timed = deps_.edit_times != nullptr && api::IsClaimed(after);
  if (is_timed && after.generation() > before.generation()) deps_.edit_times->Seen(after);
  // Only templates of lazy policies get the reason: two different requests for one object would be
  // worked on at once.
  if (ChangedByKarmada(before, after) &&
      IsLazilyGoverned(after, deps_.policies, deps_.cluster_policies)) {
    request.reason = kNotByAnEdit;
  } else if (TemplateEdits::IsLater(before.resource_version(), after.resource_version())) {
    // A pass that knew the state that is gone may have written the binding after the restoration.
    deps_.memory.edits.AddRestored(request, after.resource_version());
  } else {
    deps_.memory.edits.Add(request, after.resource_version());
  }
  deps_.queue.Add(request);
}

}  // namespace detector
