#include "sandbox/http/openapi.h"

#include <algorithm>
#include <utility>
#include <vector>

#include "absl/hash/hash.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "absl/strings/str_split.h"
#include "sandbox/kinds/builtin_schemas.h"
#include "sandbox/kinds/schema.h"
#include "sandbox/kinds/wire_schema.h"

namespace sandbox {
namespace {

constexpr char kTitle[] = "Kubernetes";
constexpr char kVersion[] = "unversioned";

std::string PathOf(const std::string& group, const std::string& version) {
  return group.empty() ? absl::StrCat("api/", version) : absl::StrCat("apis/", group, "/", version);
}

json::Value KindExtension(const kube::Gvk& gvk) {
  return json::Value::Object({{"group", gvk.group}, {"version", gvk.version}, {"kind", gvk.kind}});
}

json::Value QueryParameter(absl::string_view name, absl::string_view type) {
  return json::Value::Object(
      {{"name", name},
       {"in", "query"},
       {"schema", json::Value::Object({{"type", type}, {"uniqueItems", true}})}});
}

json::Value WriteParameters() {
  return json::Value::Array({QueryParameter("dryRun", "string"),
                             QueryParameter("fieldManager", "string"),
                             QueryParameter("fieldValidation", "string")});
}

// Returns "io.karmada.policy.v1alpha1.PropagationPolicy", as kube-apiserver names the schemas of
// definitions.
std::string SchemaName(const kube::Gvk& gvk) {
  if (gvk.group.empty()) return absl::StrCat("io.k8s.api.core.", gvk.version, ".", gvk.kind);
  std::vector<std::string> parts = absl::StrSplit(gvk.group, '.');
  std::reverse(parts.begin(), parts.end());
  return absl::StrCat(absl::StrJoin(parts, "."), ".", gvk.version, ".", gvk.kind);
}

json::Value Operation(const ResourceInfo& info, absl::string_view action) {
  const json::Value ref = json::Value::Object(
      {{"$ref", absl::StrCat("#/components/schemas/", SchemaName(info.resource.gvk))}});
  const json::Value content =
      json::Value::Object({{"application/json", json::Value::Object({{"schema", ref}})}});
  return json::Value::Object(
      {{"x-kubernetes-action", action},
       {"x-kubernetes-group-version-kind", KindExtension(info.resource.gvk)},
       {"responses", json::Value::Object({{"200", json::Value::Object({{"description", "OK"},
                                                                       {"content", content}})}})}});
}

json::Value WriteOperation(const ResourceInfo& info, absl::string_view action,
                           std::initializer_list<absl::string_view> body_types) {
  json::Value operation = Operation(info, action);
  operation.Set("parameters", WriteParameters());
  json::Value content = json::Value::Object();
  for (absl::string_view type : body_types) {
    content.Set(type, json::Value::Object({{"schema", json::Value::Object({{"type", "object"}})}}));
  }
  operation.Set("requestBody", json::Value::Object({{"content", std::move(content)}}));
  return operation;
}

void AddPaths(const ResourceInfo& info, json::Value& paths) {
  const kube::Gvk& gvk = info.resource.gvk;
  const std::string collection = absl::StrCat(
      "/", PathOf(gvk.group, gvk.version),
      info.resource.namespaced ? "/namespaces/{namespace}/" : "/", info.resource.plural);
  json::Value many = json::Value::Object({{"post", WriteOperation(info, "post", {"*/*"})}});
  if (!info.review) many.Set("get", Operation(info, "list"));
  paths.Set(collection, std::move(many));
  if (info.review) return;
  // Strategic merge is left out, so that kubectl uses its own patch rules for built-in kinds.
  json::Value one = json::Value::Object(
      {{"get", Operation(info, "get")},
       {"put", WriteOperation(info, "put", {"*/*"})},
       {"patch", WriteOperation(info, "patch",
                                {"application/apply-patch+yaml", "application/json-patch+json",
                                 "application/merge-patch+json"})},
       {"delete", Operation(info, "delete")}});
  paths.Set(absl::StrCat(collection, "/{name}"), std::move(one));
}

void AddSchema(const ResourceInfo& info, json::Value& schemas) {
  const std::string name = SchemaName(info.resource.gvk);
  const WireMessage* builtin = info.custom ? nullptr : FindWireMessage(info.resource.gvk);
  if (builtin != nullptr) {
    AddBuiltinSchema(name, *builtin, schemas);
    for (absl::string_view field : {"apiVersion", "kind"}) {
      schemas.Set({name, "properties", field}, json::Value::Object({{"type", "string"}}));
    }
  } else if (info.schema != nullptr && info.schema->root().is_object()) {
    schemas.Set(name, info.schema->root());
  } else {
    schemas.Set(name, json::Value::Object({{"type", "object"}}));
  }
  schemas.Set({name, "x-kubernetes-group-version-kind"},
              json::Value::Array({KindExtension(info.resource.gvk)}));
}

// Returns one length-delimited protobuf field. REQUIRES: field < 16 and fewer than 128 bytes.
std::string ProtoField(int field, absl::string_view bytes) {
  std::string out;
  out.push_back(static_cast<char>(field << 3 | 2));
  out.push_back(static_cast<char>(bytes.size()));
  return absl::StrCat(out, bytes);
}

}  // namespace

json::Value OpenApiV3Index(const ServedResources& served) {
  json::Value paths = json::Value::Object();
  for (const ResourceInfoPtr& info : served) {
    const kube::Gvk& gvk = info->resource.gvk;
    const std::string path = PathOf(gvk.group, gvk.version);
    if (paths.Has(path)) continue;
    const std::string text = json::Write(OpenApiV3Document(served, gvk.group, gvk.version));
    const std::string url =
        absl::StrCat("/openapi/v3/", path, "?hash=", absl::Hex(absl::HashOf(text)));
    paths.Set(path, json::Value::Object({{"serverRelativeURL", url}}));
  }
  return json::Value::Object({{"paths", std::move(paths)}});
}

json::Value OpenApiV3Document(const ServedResources& served, const std::string& group,
                              const std::string& version) {
  json::Value paths = json::Value::Object();
  json::Value schemas = json::Value::Object();
  for (const ResourceInfoPtr& info : served) {
    const kube::Gvk& gvk = info->resource.gvk;
    if (gvk.group != group || gvk.version != version) continue;
    AddPaths(*info, paths);
    AddSchema(*info, schemas);
  }
  if (paths.empty()) return nullptr;
  return json::Value::Object(
      {{"openapi", "3.0.0"},
       {"info", json::Value::Object({{"title", kTitle}, {"version", kVersion}})},
       {"paths", std::move(paths)},
       {"components", json::Value::Object({{"schemas", std::move(schemas)}})}});
}

std::string OpenApiV2Json() {
  return json::Write(json::Value::Object(
      {{"swagger", "2.0"},
       {"info", json::Value::Object({{"title", kTitle}, {"version", kVersion}})},
       {"paths", json::Value::Object()},
       {"definitions", json::Value::Object()}}));
}

std::string OpenApiV2Protobuf() {
  // The message is openapi.v2.Document: swagger = 1, info = 2 (title = 1, version = 2), paths = 8.
  return absl::StrCat(ProtoField(1, "2.0"),
                      ProtoField(2, absl::StrCat(ProtoField(1, kTitle), ProtoField(2, kVersion))),
                      ProtoField(8, ""));
}

}  // namespace sandbox
