#include "detector/template_source.h"

#include <utility>

#include "api/binding.h"
#include "api/policy.h"
#include "api/policy_scope.h"
#include "api/resources.h"
#include "base/log.h"
#include "detector/request_variant.h"

namespace detector {
namespace {

kube::Request RequestFor(const kube::Gvk& gvk, const kube::Object& object) {
  return {.key = object.key(), .gvk = gvk};
}

}  // namespace

TemplateSource::TemplateSource(Deps deps, kube::WatchedKinds& kinds)
    : deps_(std::move(deps)),
      new_kinds_(deps_.cluster_status_round),
      subscription_(kinds.Subscribe(*this)) {
  kube::InformerSet& informers = deps_.manager.cluster().informers();
  informers.Get(api::Clusters());  // NewKinds looks at them.
  const auto follow = [&](const kube::Resource& resource, auto kinds_of) {
    followed_.emplace_back(
        informers.Get(resource),
        kube::NeedKindsOf(subscription_, "named by " + resource.plural, std::move(kinds_of)));
  };
  for (const auto* policies : {&api::PropagationPolicies(), &api::ClusterPropagationPolicies()}) {
    follow(*policies, [this](const kube::Object& policy) { return SelectedBy(policy); });
  }
  for (const auto* bindings : {&api::ResourceBindings(), &api::ClusterResourceBindings()}) {
    follow(*bindings, [this](const kube::Object& binding) { return BoundBy(binding); });
  }
}

std::set<kube::Gvk> TemplateSource::SelectedBy(const kube::Object& policy) const {
  std::set<kube::Gvk> kinds;
  for (const api::ResourceSelector& selector : api::PolicyView(policy).ResourceSelectors()) {
    const absl::StatusOr<kube::Gvk> gvk = kube::ParseGvk(selector.api_version(), selector.kind());
    if (gvk.ok() && deps_.filter.AllowsResource(*gvk)) kinds.insert(*gvk);
  }
  return kinds;
}

std::set<kube::Gvk> TemplateSource::BoundBy(const kube::Object& binding) {
  const kube::Gvk gvk = api::BindingView(binding).Resource().gvk();
  if (!deps_.filter.AllowsResource(gvk)) return {};
  absl::MutexLock lock(&mu_);
  bound_.insert(gvk);
  return {gvk};
}

void TemplateSource::OnDiscovered(const std::set<kube::Gvk>& served) {
  new_kinds_.SetServed(served, deps_.manager.clock().SteadyNow());
  std::erase_if(known_to_wait_, [&](const kube::Gvk& gvk) { return !served.contains(gvk); });
}

bool TemplateSource::MayWatch(const kube::Gvk& gvk) {
  {
    absl::MutexLock lock(&mu_);
    if (bound_.contains(gvk)) return true;
  }
  if (new_kinds_.any()) {
    new_kinds_.SetClusters(deps_.manager.cluster().informers().Get(api::Clusters())->store().List(),
                           deps_.manager.clock().SteadyNow());
  }
  if (!new_kinds_.MustWait(gvk)) return true;
  if (known_to_wait_.insert(gvk).second) {
    base::LogInfo("templates of a new kind wait for clusters to serve it",
                  {{"kind", gvk.ToString()}});
  }
  return false;
}

kube::EventHandler TemplateSource::HandlerFor(const kube::Resource& resource) {
  const kube::Gvk gvk = resource.gvk;
  kube::EventHandler handler;
  handler.on_add = [this, gvk](const kube::ObjectPtr& object, bool initial_list) {
    if (!deps_.filter.AllowsObject(*object)) return;
    deps_.queue.Add(RequestFor(gvk, *object),
                    initial_list ? kube::kInitialListPriority : kube::kNormalPriority);
  };
  handler.on_update = [this, gvk](const kube::ObjectPtr& before, const kube::ObjectPtr& after) {
    if (!deps_.filter.AllowsObject(*after)) return;
    OnUpdate(RequestFor(gvk, *after), *before, *after);
  };
  handler.on_delete = [this, gvk](const kube::ObjectPtr& last) {
    if (deps_.filter.AllowsObject(*last)) deps_.queue.Add(RequestFor(gvk, *last));
  };
  return handler;
}

void TemplateSource::OnUpdate(kube::Request request, const kube::Object& before,
                              const kube::Object& after) {
  if (!SpecificationChanged(before, after)) return;
  // Only templates of lazy policies use the variant: two requests for one object would be worked on
  // at once.
  const bool by_karmada = ChangedByKarmada(before, after);
  if (by_karmada && IsLazilyClaimed(after, deps_.policies, deps_.cluster_policies)) {
    request.variant = kChangedByKarmada;
  }
  deps_.edits.Add(request, after.resource_version());
  deps_.queue.Add(request);
}

}  // namespace detector
