#include "detector/template_source.h"

#include <algorithm>
#include <set>

#include "absl/strings/str_join.h"
#include "api/policy.h"
#include "api/policy_scope.h"
#include "api/resources.h"
#include "base/log.h"
#include "base/status.h"
#include "kube/client/rest_mapper.h"

namespace detector {
namespace {

constexpr absl::Duration kDiscoveryPeriod = absl::Seconds(30);
// For a kind that a policy names before it is served; doubled each time.
constexpr absl::Duration kFirstRetry = absl::Seconds(1);
// How often clusters are looked at while a kind waits for them.
constexpr absl::Duration kLookAtClusters = absl::Milliseconds(500);

kube::Request RequestFor(const kube::Gvk& gvk, const kube::Object& object) {
  kube::Request request;
  request.gvk = gvk;
  request.key = object.key();
  return request;
}

}  // namespace

absl::Status TemplateSource::Run(const base::StopToken& stop) {
  absl::Duration retry = kFirstRetry;
  while (!stop.stop_requested()) {
    const absl::Status discovered = DiscoverOnce(stop);
    Report(discovered);
    const bool complete = WatchNeeded() && discovered.ok();
    const base::SteadyTime next =
        deps_.manager.clock().SteadyNow() + (complete ? kDiscoveryPeriod : retry);
    retry = complete ? kFirstRetry : std::min(retry * 2, kDiscoveryPeriod);
    if (AwaitUnserved(next, stop)) retry = kFirstRetry;
  }
  return absl::OkStatus();
}

bool TemplateSource::AwaitUnserved(base::SteadyTime deadline, const base::StopToken& stop) {
  const base::Clock& clock = deps_.manager.clock();
  while (!stop.stop_requested() && clock.SteadyNow() < deadline) {
    const base::SteadyTime next_look =
        new_kinds_.any() ? clock.SteadyNow() + kLookAtClusters : base::SteadyTime::InfiniteFuture();
    const bool news = deps_.needed.AwaitNews(std::min(deadline, next_look), stop);
    if (!WatchNeeded() && news) return true;
  }
  return false;
}

void TemplateSource::Report(const absl::Status& discovered) {
  const std::string failure = discovered.ok() ? "" : discovered.ToString();
  if (failure != last_failure_ && !failure.empty() && !absl::IsCancelled(discovered)) {
    base::LogError("cannot find out which kinds the control plane serves", {{"error", discovered}});
  }
  last_failure_ = failure;
}

absl::Status TemplateSource::DiscoverOnce(const base::StopToken& stop) {
  kube::ClusterClient& client = deps_.manager.cluster();
  ASSIGN_OR_RETURN(const kube::Discovery discovery, kube::Discover(client.raw(), stop));
  client.mapper().Update(discovery);
  std::map<kube::Gvk, kube::Resource> found;
  for (const kube::ApiResource& r : discovery.resources) {
    if (r.preferred && r.HasVerbs({"delete", "list", "watch"}) &&
        deps_.filter.AllowsResource(r.resource.gvk)) {
      found[r.resource.gvk] = r.resource;
    }
  }
  if (!discovery.failed_groups.empty()) {
    if (base::VlogOn(1)) {
      base::LogWarning("some API groups could not be discovered",
                       {{"groups", absl::StrJoin(discovery.failed_groups, ",")}});
    }
    found.merge(served_);  // What is missing may be there still.
  }
  served_ = std::move(found);
  std::set<kube::Gvk> kinds;
  for (const auto& [gvk, resource] : served_) kinds.insert(gvk);
  new_kinds_.SetServed(kinds, deps_.manager.clock().SteadyNow());
  std::erase_if(watched_, [&](const auto& entry) {
    if (served_.count(entry.first) > 0) return false;
    told_to_wait_.erase(entry.first);
    client.informers().Remove(entry.second);
    return true;
  });
  return absl::OkStatus();
}

bool TemplateSource::WatchNeeded() {
  kube::ClusterClient& client = deps_.manager.cluster();
  if (new_kinds_.any()) {
    new_kinds_.SetClusters(client.informers().Get(api::Clusters())->store().List(),
                           deps_.manager.clock().SteadyNow());
  }
  bool complete = true;
  for (const kube::Gvk& gvk : deps_.needed.All()) {
    if (watched_.count(gvk) > 0) continue;
    const auto resource = served_.find(gvk);
    if (resource == served_.end()) {
      complete = complete && !deps_.filter.AllowsResource(gvk);
    } else if (deps_.needed.IsBound(gvk) || !new_kinds_.MustWait(gvk)) {
      Watch(resource->second);
    } else if (told_to_wait_.insert(gvk).second) {
      base::LogInfo("templates of a new kind wait for clusters to serve it",
                    {{"kind", gvk.ToString()}});
    }
  }
  return complete;
}

void TemplateSource::Watch(const kube::Resource& resource) {
  if (base::VlogOn(1)) {
    base::LogInfo("watching templates", {{"resource", resource.gvr().ToString()}});
  }
  watched_[resource.gvk] = resource;
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
  deps_.manager.cluster().informers().Get(resource)->AddHandler(std::move(handler));
}

void TemplateSource::OnUpdate(kube::Request request, const kube::Object& before,
                              const kube::Object& after) {
  if (!SpecificationChanged(before, after)) return;
  // Only templates of lazy policies use the mark: two keys for one object would be worked on at
  // once.
  const bool by_karmada = ChangedByKarmada(before, after);
  request.changed_by_karmada = by_karmada && IsLazilyClaimed(after);
  deps_.edits.Add(request, after.resource_version());
  deps_.queue.Add(request);
}

bool TemplateSource::IsLazilyClaimed(const kube::Object& object) const {
  const kube::ObjectKey key = api::policy_scope::Namespaced::ClaimOn(object);
  const kube::ObjectPtr policy =
      key.name.empty() ? deps_.cluster_policies.Find(api::policy_scope::Cluster::ClaimOn(object))
                       : deps_.policies.Find(key);
  return policy != nullptr && api::PolicyView(*policy).IsLazy();
}

}  // namespace detector
