// The schemas are one JSON text with short names, in the form of OpenAPI version 3. SearchSchemas
// parses it at each call (search_documents.h calls once), gives every schema and reference its full
// name as upstream's generated definitions have it, takes ObjectMeta from the tables of built-in
// kinds, and marks the four kinds that the group serves with their group, version and kind. What
// clients check against them (kubectl's validation) depends on types and required fields;
// descriptions are for `kubectl explain`.

#include "search/documents/schemas.h"

#include <utility>

#include "absl/strings/str_cat.h"
#include "absl/strings/strip.h"
#include "api/resource_registry.h"
#include "kube/server/openapi.h"
#include "kube/server/wire/builtin_schemas.h"

namespace search {
namespace {

constexpr char kKarmada[] = "com.github.karmada-io.karmada.pkg.apis.";
constexpr char kMeta[] = "io.k8s.apimachinery.pkg.apis.meta.v1.";

// By short names, which references use too: "#Name". A name without a package belongs to
// search.v1alpha1.
constexpr char kSchemas[] = R"({
"ResourceRegistry": {
  "description": "Selects kinds of objects of member clusters, of which copies are kept.",
  "type": "object", "required": ["spec"],
  "properties": {
    "apiVersion": {"type": "string", "description": "The version of this object's schema."},
    "kind": {"type": "string", "description": "The kind of this object."},
    "metadata": {"$ref": "#meta.ObjectMeta"},
    "spec": {"$ref": "#ResourceRegistrySpec", "description": "What is wanted."},
    "status": {"$ref": "#ResourceRegistryStatus", "description": "What has become of it."}}},
"ResourceRegistryList": {
  "description": "A list of ResourceRegistry objects.",
  "type": "object", "required": ["items"],
  "properties": {
    "apiVersion": {"type": "string"}, "kind": {"type": "string"},
    "metadata": {"$ref": "#meta.ListMeta"},
    "items": {"type": "array", "items": {"$ref": "#ResourceRegistry"}}}},
"ResourceRegistrySpec": {
  "description": "Which objects of which clusters are kept, and where they are mirrored.",
  "type": "object", "required": ["targetCluster", "resourceSelectors"],
  "properties": {
    "targetCluster": {"$ref": "#policy.ClusterAffinity",
      "description": "The clusters whose objects are kept. Empty: all clusters."},
    "resourceSelectors": {"type": "array", "items": {"$ref": "#ResourceSelector"},
      "description": "The kinds of objects that are kept."},
    "backendStore": {"$ref": "#BackendStoreConfig",
      "description": "Where the objects are mirrored. Absent: nowhere."}}},
"ResourceRegistryStatus": {
  "description": "What has become of a ResourceRegistry.",
  "type": "object",
  "properties": {"conditions": {"type": "array", "items": {"$ref": "#meta.Condition"},
    "description": "The present conditions."}}},
"ResourceSelector": {
  "description": "One kind of objects.",
  "type": "object", "required": ["apiVersion", "kind"],
  "properties": {
    "apiVersion": {"type": "string", "description": "Group and version, such as apps/v1."},
    "kind": {"type": "string", "description": "The kind, such as Deployment."},
    "namespace": {"type": "string", "description": "The only namespace that counts. Empty: all."}}},
"BackendStoreConfig": {
  "description": "Where objects are mirrored.",
  "type": "object",
  "properties": {
    "openSearch": {"$ref": "#OpenSearchConfig", "description": "An OpenSearch cluster."}}},
"OpenSearchConfig": {
  "description": "How to reach an OpenSearch cluster.",
  "type": "object", "required": ["addresses", "secretRef"],
  "properties": {
    "addresses": {"type": "array", "items": {"type": "string"},
      "description": "URLs of its nodes; http or https."},
    "secretRef": {"$ref": "#cluster.LocalSecretReference",
      "description": "The Secret of the control plane that holds username and password."}}},
"Search": {
  "description": "Reads of the copies: search/cache/<native path>.",
  "type": "object", "properties": {"apiVersion": {"type": "string"}, "kind": {"type": "string"}}},
"Proxying": {
  "description": "All member clusters behind one URL: proxying/karmada/proxy/<native path>.",
  "type": "object", "properties": {"apiVersion": {"type": "string"}, "kind": {"type": "string"}}},
"policy.ClusterAffinity": {
  "description": "Selects clusters; all parts that are present must hold.",
  "type": "object",
  "properties": {
    "labelSelector": {"$ref": "#meta.LabelSelector", "description": "By labels of clusters."},
    "fieldSelector": {"$ref": "#policy.FieldSelector",
      "description": "By provider, region and zone."},
    "clusterNames": {"type": "array", "items": {"type": "string"}, "description": "Only these."},
    "exclude": {"type": "array", "items": {"type": "string"}, "description": "Never these."}}},
"policy.FieldSelector": {
  "description": "Selects clusters by provider, region and zone.",
  "type": "object",
  "properties": {"matchExpressions": {"type": "array",
    "items": {"$ref": "#core.NodeSelectorRequirement"}, "description": "All of them must hold."}}},
"cluster.LocalSecretReference": {
  "description": "Names a Secret of the control plane.",
  "type": "object", "required": ["namespace", "name"],
  "properties": {"namespace": {"type": "string"}, "name": {"type": "string"}}},
"core.NodeSelectorRequirement": {
  "description": "A key, an operator and values.",
  "type": "object", "required": ["key", "operator"],
  "properties": {"key": {"type": "string"}, "operator": {"type": "string"},
    "values": {"type": "array", "items": {"type": "string"}}}},
"meta.LabelSelector": {
  "description": "Selects by labels.",
  "type": "object",
  "properties": {
    "matchLabels": {"type": "object", "additionalProperties": {"type": "string"}},
    "matchExpressions": {"type": "array", "items": {"$ref": "#meta.LabelSelectorRequirement"}}}},
"meta.LabelSelectorRequirement": {
  "description": "A key, an operator and values.",
  "type": "object", "required": ["key", "operator"],
  "properties": {"key": {"type": "string"}, "operator": {"type": "string"},
    "values": {"type": "array", "items": {"type": "string"}}}},
"meta.Condition": {
  "description": "One aspect of the present state.",
  "type": "object", "required": ["type", "status", "lastTransitionTime", "reason", "message"],
  "properties": {
    "type": {"type": "string"}, "status": {"type": "string"}, "reason": {"type": "string"},
    "message": {"type": "string"}, "observedGeneration": {"type": "integer", "format": "int64"},
    "lastTransitionTime": {"type": "string", "format": "date-time"}}},
"meta.ListMeta": {
  "description": "The metadata of a list.",
  "type": "object",
  "properties": {
    "continue": {"type": "string"}, "resourceVersion": {"type": "string"},
    "selfLink": {"type": "string"},
    "remainingItemCount": {"type": "integer", "format": "int64"}}}
})";

// Returns the full name of a short one.
std::string FullName(absl::string_view name) {
  if (absl::ConsumePrefix(&name, "meta.")) return absl::StrCat(kMeta, name);
  if (absl::ConsumePrefix(&name, "core.")) return absl::StrCat("io.k8s.api.core.v1.", name);
  if (absl::ConsumePrefix(&name, "policy.")) {
    return absl::StrCat(kKarmada, "policy.v1alpha1.", name);
  }
  if (absl::ConsumePrefix(&name, "cluster.")) {
    return absl::StrCat(kKarmada, "cluster.v1alpha1.", name);
  }
  return absl::StrCat(kKarmada, "search.v1alpha1.", name);
}

json::Value Expand(const json::Value& schema);

json::Value ExpandMembers(const json::Value& schemas) {
  json::Value out = json::Value::Object();
  for (const json::Member& member : schemas.members()) {
    out.Set(member.name(), Expand(member.value));
  }
  return out;
}

// Writes references with full names. One with a description is wrapped, because a reference must
// have no siblings.
json::Value Expand(const json::Value& schema) {
  json::Value out = json::Value::Object();
  for (const json::Member& member : schema.members()) {
    if (member.name() == "properties") {
      out.Set("properties", ExpandMembers(member.value));
    } else if (member.name() == "items" || member.name() == "additionalProperties") {
      out.Set(member.name(), Expand(member.value));
    } else if (member.name() != "$ref") {
      out.Set(member.name(), member.value);
    }
  }
  absl::string_view name = schema["$ref"].AsString();
  if (!absl::ConsumePrefix(&name, "#")) return out;
  json::Value reference =
      json::Value::Object({{"$ref", absl::StrCat("#/components/schemas/", FullName(name))}});
  if (out.empty()) return reference;
  out.Set("allOf", json::Value::Array({std::move(reference)}));
  return out;
}

}  // namespace

std::string SearchSchemaName(absl::string_view kind) { return FullName(kind); }

json::Value SearchSchemas() {
  json::Value schemas = json::Value::Object();
  // The text is constant, and a test parses it.
  const auto parsed = json::Parse(kSchemas);
  if (!parsed.ok()) return schemas;
  for (const json::Member& member : parsed->members()) {
    schemas.Set(FullName(member.name()), Expand(member.value));
  }
  kube::server::AddBuiltinSchema(FullName("meta.ObjectMeta"), kube::schema::ObjectMeta(), schemas);
  kube::Gvk gvk = api::ResourceRegistryResource().gvk;
  for (const char* kind : {"ResourceRegistry", "ResourceRegistryList", "Search", "Proxying"}) {
    gvk.kind = kind;
    schemas.Set({SearchSchemaName(kind), "x-kubernetes-group-version-kind"},
                json::Value::Array({kube::server::KindExtension(gvk)}));
  }
  return schemas;
}

}  // namespace search
