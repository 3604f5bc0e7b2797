#include "tests/stories/definitions.h"

#include <map>
#include <string>
#include <utility>

#include "absl/strings/ascii.h"
#include "absl/strings/str_cat.h"
#include "kube/meta/patch.h"

namespace tests {
namespace {

using json::Value;

Value AnyFields() {
  return Value::Object({{"type", "object"}, {"x-kubernetes-preserve-unknown-fields", true}});
}

// `stores` holds for one version of a definition.
Value VersionOf(const Story& story, bool stores) {
  const Value schema = Value::Object(
      {{"type", "object"},
       {"x-kubernetes-preserve-unknown-fields", true},
       {"properties", Value::Object({{"spec", AnyFields()}, {"status", AnyFields()}})}});
  Value subresources = Value::Object();
  if (story.status_subresource) subresources.Set("status", Value::Object());
  return Value::Object({{"name", story.subject().gvk().version},
                        {"served", true},
                        {"storage", stores},
                        {"schema", Value::Object({{"openAPIV3Schema", schema}})},
                        {"subresources", subresources}});
}

kube::Object DefinitionOf(const Story& story) {
  const kube::Gvk gvk = story.subject().gvk();
  kube::Object definition =
      kube::Object::Make({"apiextensions.k8s.io", "v1", "CustomResourceDefinition"},
                         {"", absl::StrCat(story.plural, ".", gvk.group)});
  // Groups below k8s.io are reserved for definitions that were reviewed, which this one names.
  definition.SetAnnotation("api-approved.kubernetes.io", "unapproved, for a test");
  definition.Set({"spec", "group"}, gvk.group);
  definition.Set({"spec", "scope"}, story.namespaced ? "Namespaced" : "Cluster");
  definition.Set({"spec", "names"}, Value::Object({{"kind", gvk.kind},
                                                   {"listKind", absl::StrCat(gvk.kind, "List")},
                                                   {"plural", story.plural},
                                                   {"singular", absl::AsciiStrToLower(gvk.kind)}}));
  definition.Set({"spec", "versions"}, Value::Array());
  return definition;
}

bool HasVersion(const Value& versions, const std::string& name) {
  for (const Value& version : versions.items()) {
    if (version["name"] == name) return true;
  }
  return false;
}

}  // namespace

std::vector<kube::Object> DefinitionsOf(const std::vector<Story>& stories) {
  std::map<std::string, kube::Object> definitions;
  for (const Story& story : stories) {
    if (story.plural.empty()) continue;
    const kube::Gvk gvk = story.subject().gvk();
    kube::Object definition = DefinitionOf(story);
    kube::Object& made = definitions[absl::StrCat(story.plural, ".", gvk.group)];
    if (made.empty()) made = std::move(definition);
    Value& versions = made.mutable_root().Mutable({"spec", "versions"});
    if (!HasVersion(versions, gvk.version)) versions.Append(VersionOf(story, versions.empty()));
  }
  std::vector<kube::Object> all;
  for (auto& [name, definition] : definitions) all.push_back(std::move(definition));
  return all;
}

kube::Object PolicyOf(const Story& story) {
  kube::Object policy =
      kube::Object::Make({"policy.karmada.io", "v1alpha1",
                          story.namespaced ? "PropagationPolicy" : "ClusterPropagationPolicy"},
                         {story.namespaced ? story.id : "", story.id});
  Value selectors = Value::Array();
  for (const kube::Object& object : story.templates) {
    selectors.Append(Value::Object(
        {{"apiVersion", object.api_version()}, {"kind", object.kind()}, {"name", object.name()}}));
  }
  policy.Set({"spec", "resourceSelectors"}, selectors);
  policy.Set({"spec", "placement", "clusterAffinity", "clusterNames"},
             Value::Array({kMembers[0], kMembers[1]}));
  if (!story.MayBe("Unhealthy")) {
    policy.Set({"spec", "propagateDeps"}, true);  // Failover requires it.
    policy.Set({"spec", "failover", "application"},
               Value::Object({{"decisionConditions", Value::Object({{"tolerationSeconds", 0}})},
                              {"purgeMode", "Gracefully"}}));
  }
  Value spec = kube::ApplyMergePatch(policy.spec(), story.policy);
  if (!story.policy.is_null()) policy.Set({"spec"}, std::move(spec));
  return policy;
}

}  // namespace tests
