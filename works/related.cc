// Small functions in the order of the header: whether a cluster takes Works, and why one that does
// not makes a write fail; maps from events of Clusters to requests for their Works or objects; and
// the ways back from a Work to its template and its binding. Maps hold the informer that they read,
// look only into its store, and ask no server. No state.

#include "works/related.h"

#include <algorithm>
#include <utility>
#include <vector>

#include "api/binding_scope.h"
#include "api/cluster.h"
#include "api/keys.h"
#include "api/names.h"
#include "api/resources.h"
#include "api/work.h"
#include "base/status.h"
#include "kube/client/client.h"
#include "kube/client/errors.h"

namespace works {

bool BecameReady(const kube::Object& before, const kube::Object& after) {
  return api::ClusterView(after).IsReady() && !api::ClusterView(before).IsReady();
}

bool TakesWorks(kube::ClusterClient& control_plane, const kube::Object& cluster) {
  if (cluster.IsDeleting()) return false;
  const kube::ObjectKey ns{"", api::ExecutionNamespace(cluster.name())};
  return control_plane.Find(api::Namespaces(), ns) != nullptr;
}

absl::Status ExplainedByCluster(kube::ClusterClient& control_plane, const std::string& cluster,
                                const absl::Status& written) {
  // What follows is looked up after a failure only, so a good write costs nothing.
  if (written.ok() || kube::IsNoOutcome(written)) return written;
  const kube::ObjectPtr object = control_plane.Find(api::Clusters(), {"", cluster});
  if (object == nullptr) {
    return base::Annotate(written,
                          "there is no such cluster; join it, or take it out of the placement");
  }
  if (object->IsDeleting()) {
    return base::Annotate(written,
                          "the cluster is being removed; the scheduler takes it out of the "
                          "binding's spec.clusters");
  }
  const std::string ns = api::ExecutionNamespace(cluster);
  const kube::ObjectPtr space = control_plane.Find(api::Namespaces(), {"", ns});
  if (space != nullptr && !space->IsDeleting()) {
    // The server's own refusals, such as those of admission webhooks, have this code as well.
    const bool is_in_the_way =
        absl::IsFailedPrecondition(written) && kube::FailureOf(written).code == 0;
    if (!is_in_the_way || api::ClusterView(*object).IsReady()) return written;
    return base::Annotate(written,
                          "the cluster is not ready; the Work that is there is removed once the "
                          "cluster is ready and its objects have been deleted");
  }
  return base::Annotate(written, "the cluster's execution namespace ", ns,
                        space == nullptr ? " is not there" : " is being deleted",
                        "; the Work follows once the cluster controller has made it");
}

absl::Status CheckClusterExists(kube::ClusterClient& control_plane, const std::string& cluster) {
  if (control_plane.Find(api::Clusters(), {"", cluster}) != nullptr) return absl::OkStatus();
  const std::string ns = api::ExecutionNamespace(cluster);
  return ExplainedByCluster(control_plane, cluster,
                            absl::NotFoundError(absl::StrCat("namespaces \"", ns, "\" not found")));
}

kube::MapFn WorksOf(std::shared_ptr<kube::Informer> works) {
  return [works = std::move(works)](const kube::Object& cluster) {
    std::vector<kube::Request> requests;
    for (const kube::ObjectPtr& work :
         works->store().List(api::ExecutionNamespace(cluster.name()), {})) {
      requests.push_back({.key = work->key()});
    }
    return requests;
  };
}

kube::UpdateMapFn WorksOfNewKinds(std::shared_ptr<kube::Informer> works) {
  return [works = std::move(works)](const kube::Object& before, const kube::Object& after) {
    std::vector<kube::Request> requests;
    const api::ClusterView old(before), now(after);
    const auto is_new = [&](const json::Value& manifest) {
      const kube::Gvk gvk = kube::Object(manifest).gvk();
      return now.HasApi(gvk) && !old.HasApi(gvk);
    };
    for (const kube::ObjectPtr& work :
         works->store().List(api::ExecutionNamespace(after.name()), {})) {
      const absl::Span<const json::Value> manifests = api::WorkView(*work).Manifests();
      if (std::any_of(manifests.begin(), manifests.end(), is_new)) {
        requests.push_back({.key = work->key()});
      }
    }
    return requests;
  };
}

bool ServesOtherKinds(const kube::Object& before, const kube::Object& after) {
  return before.status()["apiEnablements"] != after.status()["apiEnablements"];
}

kube::ClusterSet::Subscription QueueWhenReconnected(kube::ClusterSet& members,
                                                    std::shared_ptr<kube::Informer> works,
                                                    kube::WorkQueue& queue) {
  return members.OnReconnected([works = std::move(works), &queue](const std::string& cluster) {
    for (const kube::ObjectPtr& work : works->store().List(api::ExecutionNamespace(cluster), {})) {
      queue.Add({.key = work->key()});
    }
  });
}

bool HasNoObjects(const kube::Object& work) {
  const api::WorkView view(work);
  return view.IsDispatchingSuspended() &&
         kube::FindCondition(view.Conditions(), api::kWorkApplied) == nullptr;
}

kube::MapFn ObjectsOf(std::shared_ptr<kube::Informer> works) {
  return [works = std::move(works)](const kube::Object& cluster) {
    const std::string name(cluster.name());
    std::vector<kube::Request> requests;
    for (const kube::ObjectPtr& work : works->store().List(api::ExecutionNamespace(name), {})) {
      if (HasNoObjects(*work)) continue;
      for (const json::Value& raw : api::WorkView(*work).Manifests()) {
        const kube::Object manifest(raw);
        requests.push_back({.key = manifest.key(), .gvk = manifest.gvk(), .cluster = name});
      }
    }
    return requests;
  };
}

void RecheckWorksIn(const kube::ObjectKey& ns, const std::string& cluster,
                    kube::ClusterClient& control_plane, const Rechecks& rechecks) {
  for (const kube::ObjectPtr& work :
       control_plane.List(api::Works(), api::ExecutionNamespace(cluster))) {
    const api::WorkView view(*work);
    const json::Value* applied = kube::FindCondition(view.Conditions(), api::kWorkApplied);
    // Only a Work that has failed may have waited for the namespace.
    if (applied == nullptr || (*applied)["status"].AsString() != "False") continue;
    const absl::Span<const json::Value> manifests = view.Manifests();
    const bool is_in = std::any_of(manifests.begin(), manifests.end(), [&](const json::Value& m) {
      return m["metadata"]["namespace"].AsString() == ns.name;
    });
    if (is_in && !work->IsDeleting()) rechecks.Publish(*work, kube::kNormalPriority);
  }
}

kube::InvolvedObject TemplateOf(const kube::Object& manifest) {
  kube::InvolvedObject ref = kube::InvolvedObject::Of(manifest);
  ref.uid = std::string(manifest.Annotation(api::kTemplateUidAnnotation));
  ref.resource_version.clear();
  return ref;
}

namespace {

template <class Scope>
kube::ObjectPtr BindingIn(kube::ClusterClient& control_plane, const kube::Object& work) {
  const kube::ObjectKey key = Scope::BindingOf(work);
  return key.name.empty() ? nullptr : control_plane.Find(Scope::Bindings(), key);
}

}  // namespace

kube::ObjectPtr BindingOfWork(kube::ClusterClient& control_plane, const kube::Object& work) {
  kube::ObjectPtr binding = BindingIn<api::scope::Namespaced>(control_plane, work);
  return binding != nullptr ? binding : BindingIn<api::scope::Cluster>(control_plane, work);
}

}  // namespace works
