// Kinds as the control plane serves them, the object that a binding or a Work stands for, the
// clusters that are asked, what a policy has claimed, and what a template needs of members. Each
// answer follows from what was read before; nothing is remembered.

#include "lens/why/questions.h"

#include <algorithm>
#include <string>

#include "absl/status/statusor.h"
#include "absl/strings/str_cat.h"
#include "api/binding.h"
#include "api/binding_resource.h"
#include "api/names.h"
#include "api/policy_scope.h"
#include "api/resources.h"
#include "api/work.h"
#include "base/spelling.h"

namespace lens::why {

const kube::Resource* ServedAs(const kube::Discovery& discovery, const kube::Gvk& gvk) {
  const auto found =
      std::find_if(discovery.resources.begin(), discovery.resources.end(),
                   [&](const kube::ApiResource& served) { return served.resource.gvk == gvk; });
  return found == discovery.resources.end() ? nullptr : &found->resource;
}

const kube::Resource* ServedFirst(const kube::Discovery& discovery, const kube::Gvk& gvk) {
  const kube::Resource* asked = ServedAs(discovery, gvk);
  if (asked == nullptr) return nullptr;
  for (const kube::ApiResource& served : discovery.resources) {
    const kube::Gvk& other = served.resource.gvk;
    if (served.preferred && other.group == gvk.group && other.kind == gvk.kind) {
      return &served.resource;
    }
  }
  return asked;
}

std::string Unserved(const kube::Discovery& discovery, const kube::Gvk& gvk) {
  std::vector<std::string> kinds;
  for (const kube::ApiResource& served : discovery.resources) {
    kinds.push_back(served.resource.gvk.kind);
  }
  const auto nearest = base::NearestName(gvk.kind, kinds);
  const std::string text = absl::StrCat(gvk.ApiVersion(), " ", gvk.kind);
  if (!nearest) return text;
  const kube::Gvk& meant = discovery.resources[*nearest].resource.gvk;
  return absl::StrCat(text, " (did you mean ", meant.ApiVersion(), " ", meant.kind, "?)");
}

std::vector<std::string> NamespacesWith(kube::Client& client, const kube::Resource& resource,
                                        const std::string& name, const base::StopToken& stop) {
  std::vector<std::string> namespaces;
  if (!resource.namespaced) return namespaces;
  kube::ListOptions options;
  options.field_selector = absl::StrCat("metadata.name=", name);
  const auto page = client.ListAll(resource, "", options, stop);
  if (!page.ok()) return namespaces;
  for (const kube::Object& object : page->items) namespaces.emplace_back(object.ns());
  return namespaces;
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

Objects ClustersToAsk(const Chain& chain) {
  Objects clusters;
  const std::vector<api::TargetCluster> targets = chain.Targets();
  for (const auto& [name, cluster] : chain.clusters) {
    const bool is_target =
        std::any_of(targets.begin(), targets.end(),
                    [&, &n = name](const api::TargetCluster& t) { return t.name == n; });
    const bool is_meant = is_target || chain.works.count(name) > 0 || chain.object == nullptr;
    if (is_meant && chain.Concerns(name)) clusters.push_back(cluster);
  }
  return clusters;
}

bool AnyIsGovernedBy(const Objects& objects, const kube::Object& policy) {
  using api::policy_scope::Cluster;
  using api::policy_scope::Namespaced;
  return std::any_of(objects.begin(), objects.end(), [&](const kube::ObjectPtr& object) {
    const kube::Gvk gvk = object->gvk();
    if (gvk != api::ResourceBindings().gvk && gvk != api::ClusterResourceBindings().gvk) {
      return false;
    }
    return policy.key() ==
           (policy.ns().empty() ? Cluster::ClaimOn(*object) : Namespaced::ClaimOn(*object));
  });
}

std::string ClaimSelector(const kube::Object& policy) {
  using api::policy_scope::Cluster;
  using api::policy_scope::Namespaced;
  const absl::string_view label = policy.ns().empty() ? absl::string_view(Cluster::kIdLabel)
                                                      : absl::string_view(Namespaced::kIdLabel);
  return absl::StrCat(label, "=", policy.Label(label));
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
