// A dependency has to stay where the workload that needs it still is. Whether the template is still
// in a cluster that its binding has left is read from what shows it, in this order: an eviction
// task that keeps the Work; a Work of the binding there, unless other bindings are the reason for
// it (Leaving); in a member of mode Push, the object itself while finalizers hold it. A cluster
// that is being removed counts as left, since nothing would ever end there. The last part maps
// events to the bindings whose answer they may change. Nothing is remembered; a member that cannot
// be read is taken to have nothing.

#include "controllers/dependencies/left_clusters.h"

#include <algorithm>
#include <map>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "api/binding.h"
#include "api/binding_scope.h"
#include "api/cluster.h"
#include "api/keys.h"
#include "api/names.h"
#include "api/resources.h"
#include "controllers/dependencies/dependency_source.h"
#include "works/binding_works.h"

namespace controllers {
namespace {

bool Names(const json::Value& clusters, absl::string_view name) {
  const auto items = clusters.items();
  return std::any_of(items.begin(), items.end(), [&](const json::Value& cluster) {
    return cluster["name"].AsString() == name;
  });
}

// Returns whether the entry of the binding's spec.requiredBy may be one that this program has made:
// it attaches within a namespace. Nothing of other namespaces may be learned by such an entry.
bool IsOfSameNamespace(const json::Value& entry, const kube::Object& binding) {
  return entry["namespace"].AsString() == binding.ns();
}

// Returns nullptr for a cluster that does not exist or is being removed.
kube::ObjectPtr StayingCluster(kube::ClusterClient& client, absl::string_view name) {
  kube::ObjectPtr cluster = client.Find(api::Clusters(), {"", std::string(name)});
  return cluster == nullptr || cluster->IsDeleting() ? nullptr : cluster;
}

bool IsEvictedGracefully(const api::BindingView& binding, absl::string_view cluster) {
  const std::vector<api::EvictionTask> tasks = binding.EvictionTasks();
  return std::any_of(tasks.begin(), tasks.end(), [&](const api::EvictionTask& task) {
    return task.from_cluster == cluster && task.KeepsWork();
  });
}

bool HasWorkIn(kube::ClusterClient& client, const kube::Object& binding,
               absl::string_view cluster) {
  const std::string ns = api::ExecutionNamespace(cluster);
  const std::vector<kube::ObjectPtr> works =
      works::WorksOfBinding<api::scope::Namespaced>(client, binding);
  return std::any_of(works.begin(), works.end(),
                     [&](const kube::ObjectPtr& work) { return work->ns() == ns; });
}

// Determines whether bindings that are not placed in a cluster are about to leave it. A Work does
// not show that as long as another binding needs the object there: if that one stays, this one does
// not leave; and if they need each other, their Works would stay for the sake of each other. So the
// Work counts if each binding that takes the object there is about to leave, too, without a circle.
class Leaving {
 public:
  Leaving(kube::ClusterClient& client, absl::string_view cluster)
      : client_(client), cluster_(cluster) {}

  bool Includes(const kube::Object& binding) {
    // A binding that is met again before it has been judged is part of a circle.
    const auto [judged, is_new] = judged_.emplace(binding.key(), false);
    if (!is_new) return judged->second;
    if (!HasWorkIn(client_, binding, cluster_)) return false;
    for (const json::Value& entry : binding.spec()["requiredBy"].items()) {
      const bool needs_it = IsOfSameNamespace(entry, binding) && Names(entry["clusters"], cluster_);
      if (needs_it && !ReferrerLeaves(entry)) return false;
    }
    judged->second = true;
    return true;
  }

 private:
  bool ReferrerLeaves(const json::Value& entry) {
    const kube::ObjectPtr referrer = client_.Find(
        api::ResourceBindings(), {entry["namespace"].ToString(), entry["name"].ToString()});
    if (referrer == nullptr || Names(referrer->spec()["clusters"], cluster_)) return false;
    return IsEvictedGracefully(api::BindingView(*referrer), cluster_) || Includes(*referrer);
  }

  kube::ClusterClient& client_;
  const absl::string_view cluster_;
  std::map<kube::ObjectKey, bool> judged_;  // Iterators stay valid.
};

}  // namespace

bool MayStillBeIn(kube::ClusterClient& client, const kube::Object& binding,
                  absl::string_view cluster) {
  if (StayingCluster(client, cluster) == nullptr) return false;
  if (IsEvictedGracefully(api::BindingView(binding), cluster)) return true;
  return Leaving(client, cluster).Includes(binding);
}

StillIn TerminatingIn(works::MemberObjects& objects) {
  return [&objects](const kube::Object& binding, absl::string_view cluster) {
    const api::ObjectReference reference = api::BindingView(binding).Resource();
    const auto informer = objects.InformerFor(std::string(cluster), reference.gvk(), {});
    if (!informer.ok()) return false;
    // While the first list is under way the object may be there; a list that fails says nothing.
    if (!(*informer)->HasSynced()) return (*informer)->last_error().ok();
    const bool leaves_out = (*informer)->LeavesOut();
    kube::ObjectPtr object = (*informer)->store().Find(reference.key());
    if (object == nullptr && leaves_out) {
      const kube::Object named = kube::Object::Make(reference.gvk(), reference.key());
      object = objects.Find(std::string(cluster), named, {}).value_or(nullptr);
    }
    return object != nullptr && object->IsDeleting();
  };
}

Lookups LookupsIn(kube::ClusterClient& client, StillIn terminating) {
  Lookups lookups;
  lookups.find = [&client](const kube::ObjectKey& key) {
    return client.Find(api::ResourceBindings(), key);
  };
  lookups.still_in = [&client, terminating = std::move(terminating)](const kube::Object& binding,
                                                                     absl::string_view cluster) {
    if (MayStillBeIn(client, binding, cluster)) return true;
    const kube::ObjectPtr object = StayingCluster(client, cluster);
    return terminating && object != nullptr && api::ClusterView(*object).IsPush() &&
           terminating(binding, cluster);
  };
  return lookups;
}

kube::MapFn BindingThatLostWork(kube::ClusterClient& client) {
  return [&client](const kube::Object& work) {
    kube::ObjectKey key = api::scope::Namespaced::BindingOf(work);
    const kube::ObjectPtr binding =
        key.name.empty() ? nullptr : client.Find(api::ResourceBindings(), key);
    if (binding == nullptr || !PropagatesDependencies(*binding) ||
        !api::IsExecutionNamespace(work.ns())) {
      return std::vector<kube::Request>();
    }
    return std::vector<kube::Request>{{.key = std::move(key)}};
  };
}

bool BeginsToGo(const kube::Object& before, const kube::Object& after) {
  return after.IsDeleting() && !before.IsDeleting();
}

kube::MapFn ReferrersInto(std::shared_ptr<kube::Informer> bindings) {
  return [bindings = std::move(bindings)](const kube::Object& cluster) {
    std::set<kube::Request> referrers;
    for (const kube::ObjectPtr& binding : bindings->store().List()) {
      for (const json::Value& entry : binding->spec()["requiredBy"].items()) {
        if (!IsOfSameNamespace(entry, *binding)) continue;
        if (!Names(entry["clusters"], cluster.name())) continue;
        referrers.insert({.key = {entry["namespace"].ToString(), entry["name"].ToString()}});
      }
    }
    return std::vector<kube::Request>(referrers.begin(), referrers.end());
  };
}

}  // namespace controllers
