#include "lens/why/questions.h"

#include <algorithm>
#include <string>

#include "absl/status/statusor.h"
#include "api/binding.h"
#include "api/binding_resource.h"
#include "api/names.h"
#include "api/resources.h"
#include "api/work.h"

namespace lens::why {

const kube::Resource* ServedAs(const kube::Discovery& discovery, const kube::Gvk& gvk) {
  const auto found =
      std::find_if(discovery.resources.begin(), discovery.resources.end(),
                   [&](const kube::ApiResource& served) { return served.resource.gvk == gvk; });
  return found == discovery.resources.end() ? nullptr : &found->resource;
}

std::optional<Question> AboutItsObject(const Question& question, const kube::ObjectPtr& read,
                                       const kube::Discovery& discovery) {
  const kube::Gvk& gvk = question.gvk;
  const bool is_binding =
      gvk == api::ResourceBindings().gvk || gvk == api::ClusterResourceBindings().gvk;
  if (read == nullptr || (!is_binding && gvk != api::Works().gvk)) return std::nullopt;
  const kube::Object& object = *read;
  Question about = question;
  about.through = object.Describe();
  if (is_binding) {
    const api::ObjectReference resource = api::BindingView(object).Resource();
    if (!api::CheckBindingResource(object).ok()) return std::nullopt;
    about.gvk = resource.gvk();
    about.key = {std::string(object.ns()), resource.name};
  } else {
    const auto manifests = api::WorkView(object).Manifests();
    const absl::StatusOr<std::string> cluster = api::ClusterOfExecutionNamespace(object.ns());
    if (manifests.size() != 1 || !cluster.ok()) return std::nullopt;
    about.gvk = kube::Object(manifests[0]).gvk();
    about.key = kube::Object(manifests[0]).key();
    about.cluster = *cluster;
  }
  const bool is_served = ServedAs(discovery, about.gvk) != nullptr;
  return is_served && !api::IsKarmadaGroup(about.gvk.group) ? std::optional(about) : std::nullopt;
}

std::vector<api::DependentReference> NeedsOfMembers(const kube::Object& object) {
  std::vector<api::DependentReference> needs;
  const auto add = [&](const char* version, const char* kind, const json::Value& name) {
    if (!name.AsString().empty()) needs.push_back({version, kind, "", name.ToString()});
  };
  const json::Value& spec = object.spec();
  const json::Value& pod = spec["template"]["spec"];
  add("scheduling.k8s.io/v1", "PriorityClass", pod["priorityClassName"]);
  add("node.k8s.io/v1", "RuntimeClass", pod["runtimeClassName"]);
  if (object.kind() == "Ingress") {
    add("networking.k8s.io/v1", "IngressClass", spec["ingressClassName"]);
  }
  if (object.kind() == "PersistentVolumeClaim") {
    add("storage.k8s.io/v1", "StorageClass", spec["storageClassName"]);
  }
  for (const json::Value& claim : spec["volumeClaimTemplates"].items()) {
    add("storage.k8s.io/v1", "StorageClass", claim["spec"]["storageClassName"]);
  }
  return needs;
}

}  // namespace lens::why
