// Writes OpenAPI documents, version 3 and from the same contents version 2, as far as clients use
// them: kubectl looks for the kinds, for fieldValidation, and for schemas. They are made by the
// caller when the contents change; the answers here only choose, hash and redirect. A document of
// version 3 whose hash is in its URL may be cached for ever, because a change gives it another URL;
// a request with an old hash is redirected to the present one.

#include "kube/server/openapi.h"

#include <algorithm>
#include <utility>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "absl/strings/str_split.h"
#include "absl/strings/strip.h"
#include "kube/server/discovery.h"
#include "kube/server/negotiation.h"

namespace kube::server {
namespace {

constexpr char kV3Reference[] = "#/components/schemas/";
constexpr char kV2Reference[] = "#/definitions/";

// Writes the operations of one version of OpenAPI.
class PathWriter {
 public:
  explicit PathWriter(bool v2) : v2_(v2) {}

  void Add(const OpenApiResource& served, json::Value& paths) const {
    const kube::Gvk& gvk = served.resource.gvk;
    const bool namespaced = served.resource.namespaced;
    const std::string collection =
        absl::StrCat("/", OpenApiPath(gvk.group, gvk.version),
                     namespaced ? "/namespaces/{namespace}/" : "/", served.resource.plural);
    json::Value many = json::Value::Object();
    AddRead(served, {"list", "get", "list"}, many);
    AddWrite(served, {"create", "post", "post"}, {"*/*"}, many);
    AddRead(served, {"deletecollection", "delete", "deletecollection"}, many);
    AddPath(collection, namespaced, false, std::move(many), paths);
    json::Value one = json::Value::Object();
    AddRead(served, {"get", "get", "get"}, one);
    AddWrite(served, {"update", "put", "put"}, {"*/*"}, one);
    // Strategic merge is left out, so that kubectl uses its own patch rules for built-in kinds.
    AddWrite(served, {"patch", "patch", "patch"},
             {"application/apply-patch+yaml", "application/json-patch+json",
              "application/merge-patch+json"},
             one);
    AddRead(served, {"delete", "delete", "delete"}, one);
    AddPath(absl::StrCat(collection, "/{name}"), namespaced, true, std::move(one), paths);
  }

 private:
  // A verb of a resource, its method in a document, and its name in x-kubernetes-action.
  struct Action {
    absl::string_view verb, method, name;
  };
  using Types = std::initializer_list<absl::string_view>;

  static bool Has(const OpenApiResource& served, absl::string_view verb) {
    return std::find(served.verbs.begin(), served.verbs.end(), verb) != served.verbs.end();
  }

  json::Value Parameter(absl::string_view name, absl::string_view in) const {
    json::Value out = json::Value::Object({{"name", name}, {"in", in}});
    if (in == "path") out.Set("required", true);
    const json::Value type = json::Value::Object({{"type", "string"}, {"uniqueItems", true}});
    if (!v2_) {
      out.Set("schema", type);
      return out;
    }
    for (const json::Member& member : type.members()) out.Set(member.name(), member.value);
    return out;
  }

  void AddPath(const std::string& path, bool namespaced, bool named, json::Value operations,
               json::Value& paths) const {
    if (operations.empty()) return;
    json::Value parameters = json::Value::Array();
    if (named) parameters.Append(Parameter("name", "path"));
    if (namespaced) parameters.Append(Parameter("namespace", "path"));
    if (!parameters.empty()) operations.Set("parameters", std::move(parameters));
    paths.Set(path, std::move(operations));
  }

  json::Value Operation(const OpenApiResource& served, const Action& action) const {
    const json::Value reference = json::Value::Object(
        {{"$ref", absl::StrCat(v2_ ? kV2Reference : kV3Reference, served.schema)}});
    json::Value ok = json::Value::Object({{"description", "OK"}});
    if (v2_) {
      ok.Set("schema", reference);
    } else {
      ok.Set({"content", "application/json"}, json::Value::Object({{"schema", reference}}));
    }
    json::Value operation = json::Value::Object(
        {{"x-kubernetes-action", action.name},
         {"x-kubernetes-group-version-kind", KindExtension(served.resource.gvk)},
         {"responses", json::Value::Object({{"200", std::move(ok)}})}});
    if (v2_) operation.Set("produces", json::Value::Array({"application/json"}));
    return operation;
  }

  void AddRead(const OpenApiResource& served, const Action& action, json::Value& path) const {
    if (Has(served, action.verb)) path.Set(action.method, Operation(served, action));
  }

  void AddWrite(const OpenApiResource& served, const Action& action, Types body_types,
                json::Value& path) const {
    if (!Has(served, action.verb)) return;
    json::Value operation = Operation(served, action);
    json::Value parameters = json::Value::Array();
    for (absl::string_view name : {"dryRun", "fieldManager", "fieldValidation"}) {
      parameters.Append(Parameter(name, "query"));
    }
    const json::Value schema = json::Value::Object({{"type", "object"}});
    if (v2_) {
      parameters.Append(json::Value::Object(
          {{"name", "body"}, {"in", "body"}, {"required", true}, {"schema", schema}}));
      operation.Set("consumes", json::Value::Array());
      for (absl::string_view type : body_types) operation.Mutable("consumes").Append(type);
    } else {
      for (absl::string_view type : body_types) {
        operation.Set({"requestBody", "content", type}, json::Value::Object({{"schema", schema}}));
      }
    }
    operation.Set("parameters", std::move(parameters));
    path.Set(action.method, std::move(operation));
  }

  const bool v2_;
};

json::Value PathsOf(const OpenApiContents& contents, bool v2) {
  json::Value paths = json::Value::Object();
  const PathWriter writer(v2);
  for (const OpenApiResource& served : contents.resources) writer.Add(served, paths);
  return paths;
}

json::Value InfoOf(const OpenApiContents& contents) {
  return json::Value::Object({{"title", contents.title}, {"version", contents.version}});
}

json::Value SchemaInV2(const json::Value& schema);

json::Value MembersInV2(const json::Value& schemas) {
  json::Value out = json::Value::Object();
  for (const json::Member& member : schemas.members()) {
    out.Set(member.name(), SchemaInV2(member.value));
  }
  return out;
}

// Returns "X" for a schema that is only a reference to X, also one wrapped in allOf.
absl::string_view ReferenceOf(const json::Value& schema) {
  const json::Value& wrapped = schema["allOf"];
  const json::Value& one = wrapped.size() == 1 ? wrapped.At(0) : schema;
  absl::string_view reference = one["$ref"].AsString();
  return absl::ConsumePrefix(&reference, kV3Reference) ? reference : "";
}

// Members that version 2 does not know are left out; the rest is converted at every depth.
json::Value SchemaInV2(const json::Value& schema) {
  if (!schema.is_object()) return schema;
  json::Value out = json::Value::Object();
  for (const json::Member& member : schema.members()) {
    const absl::string_view name = member.name();
    if (name == "properties" || name == "definitions") {
      out.Set(name, MembersInV2(member.value));
    } else if (name == "items" || name == "additionalProperties") {
      out.Set(name, SchemaInV2(member.value));
    } else if (name != "nullable" && name != "oneOf" && name != "anyOf" && name != "not" &&
               name != "allOf" && name != "$ref") {
      out.Set(name, member.value);
    }
  }
  const absl::string_view reference = ReferenceOf(schema);
  if (!reference.empty()) out.Set("$ref", absl::StrCat(kV2Reference, reference));
  return out;
}

// Returns the hash of a document as the index has it.
std::string HashOf(absl::string_view document) {
  // The ETag has quotes around the hash.
  const std::string etag = EtagOf(document);
  return etag.substr(1, etag.size() - 2);
}

std::string UrlOf(const OpenApiText& document) {
  return absl::StrCat("/openapi/v3/", document.first, "?hash=", HashOf(document.second));
}

bool AcceptsJson(const base::HttpRequest& request) {
  const auto form = FormOf(request.Header("accept"));
  return form.ok() && !form->yaml;
}

base::HttpResponse TextAnswer(const base::HttpRequest& request, absl::string_view text) {
  base::HttpResponse answer;
  answer.body = std::string(text);
  AddEtag(request, answer);
  answer.headers.emplace_back("Vary", "Accept");
  return answer;
}

base::HttpResponse NothingToSend(int code) {
  base::HttpResponse answer;
  answer.code = code;
  answer.content_type = "text/plain; charset=utf-8";
  answer.headers.emplace_back("Vary", "Accept");
  return answer;
}

}  // namespace

json::Value KindExtension(const kube::Gvk& gvk) {
  return json::Value::Object({{"group", gvk.group}, {"version", gvk.version}, {"kind", gvk.kind}});
}

std::string OpenApiPath(absl::string_view group, absl::string_view version) {
  return group.empty() ? absl::StrCat("api/", version) : absl::StrCat("apis/", group, "/", version);
}

std::string OpenApiSchemaName(const kube::Gvk& gvk) {
  if (gvk.group.empty()) return absl::StrCat("io.k8s.api.core.", gvk.version, ".", gvk.kind);
  std::vector<std::string> parts = absl::StrSplit(gvk.group, '.');
  std::reverse(parts.begin(), parts.end());
  return absl::StrCat(absl::StrJoin(parts, "."), ".", gvk.version, ".", gvk.kind);
}

json::Value OpenApiV3Document(const OpenApiContents& contents) {
  return json::Value::Object(
      {{"openapi", "3.0.0"},
       {"info", InfoOf(contents)},
       {"paths", PathsOf(contents, false)},
       {"components", json::Value::Object({{"schemas", contents.schemas}})}});
}

json::Value OpenApiV2Document(const OpenApiContents& contents) {
  return json::Value::Object({{"swagger", "2.0"},
                              {"info", InfoOf(contents)},
                              {"paths", PathsOf(contents, true)},
                              {"definitions", MembersInV2(contents.schemas)}});
}

base::HttpResponse OpenApiIndexAnswer(const base::HttpRequest& request,
                                      const std::vector<OpenApiText>& documents) {
  json::Value paths = json::Value::Object();
  for (const OpenApiText& document : documents) {
    paths.Set(document.first, json::Value::Object({{"serverRelativeURL", UrlOf(document)}}));
  }
  return TextAnswer(request, json::Write(json::Value::Object({{"paths", std::move(paths)}})));
}

base::HttpResponse OpenApiV3Answer(const base::HttpRequest& request, const OpenApiText& document) {
  if (!AcceptsJson(request)) return NothingToSend(406);
  const absl::string_view hash = request.Query("hash");
  if (hash.empty()) return TextAnswer(request, document.second);
  if (hash != HashOf(document.second)) {
    base::HttpResponse moved = NothingToSend(301);
    moved.headers.emplace_back("Location", UrlOf(document));
    return moved;
  }
  base::HttpResponse answer = TextAnswer(request, document.second);
  answer.headers.emplace_back("Cache-Control", "public, immutable");
  return answer;
}

base::HttpResponse OpenApiV2Answer(const base::HttpRequest& request, absl::string_view document) {
  if (!AcceptsJson(request)) return NothingToSend(406);
  return TextAnswer(request, document);
}

}  // namespace kube::server
