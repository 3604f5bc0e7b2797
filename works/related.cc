#include "works/related.h"

#include <utility>
#include <vector>

#include "api/cluster.h"
#include "api/keys.h"
#include "api/names.h"
#include "api/resources.h"
#include "api/work.h"

namespace works {

bool BecameReady(const kube::Object& before, const kube::Object& after) {
  return api::ClusterView(after).IsReady() && !api::ClusterView(before).IsReady();
}

bool TakesWorks(kube::ClusterClient& control_plane, const kube::Object& cluster) {
  if (cluster.IsDeleting()) return false;
  const kube::ObjectKey ns{"", api::ExecutionNamespace(cluster.name())};
  return control_plane.Find(api::Namespaces(), ns) != nullptr;
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

kube::ClusterSet::Subscription QueueWhenReconnected(kube::ClusterSet& members,
                                                    std::shared_ptr<kube::Informer> works,
                                                    kube::WorkQueue& queue) {
  return members.OnReconnected([works = std::move(works), &queue](const std::string& cluster) {
    for (const kube::ObjectPtr& work : works->store().List(api::ExecutionNamespace(cluster), {})) {
      queue.Add({.key = work->key()});
    }
  });
}

kube::MapFn ObjectsOf(std::shared_ptr<kube::Informer> works) {
  return [works = std::move(works)](const kube::Object& cluster) {
    const std::string name(cluster.name());
    std::vector<kube::Request> requests;
    for (const kube::ObjectPtr& work : works->store().List(api::ExecutionNamespace(name), {})) {
      for (const json::Value& raw : api::WorkView(*work).Manifests()) {
        const kube::Object manifest(raw);
        requests.push_back({.key = manifest.key(), .gvk = manifest.gvk(), .cluster = name});
      }
    }
    return requests;
  };
}

kube::InvolvedObject TemplateOf(const kube::Object& manifest) {
  kube::InvolvedObject ref = kube::InvolvedObject::Of(manifest);
  ref.uid = std::string(manifest.Annotation(api::kTemplateUidAnnotation));
  ref.resource_version.clear();
  return ref;
}

}  // namespace works
