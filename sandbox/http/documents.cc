// Every answer is that of the kinds which are served at the moment of the request, so a definition
// that was added or removed shows at once: DocumentAnswers forgets what it has when others are
// served, or when it has much, and loses nothing by it. /openapi/v3 has one document for each
// group and version, whose address contains a hash of its text; /openapi/v2 is empty but valid,
// since no client of ours reads definitions there, and comes as JSON or, if asked for, as gnostic's
// protobuf.

#include "sandbox/http/documents.h"

#include <algorithm>
#include <string>
#include <utility>

#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/strip.h"
#include "kube/server/discovery.h"
#include "kube/server/openapi.h"
#include "kube/server/wire/builtin_schemas.h"
#include "sandbox/kinds/approval.h"
#include "sandbox/kinds/namespace_rules.h"
#include "sandbox/kinds/scale.h"
#include "sandbox/kinds/schema.h"

namespace sandbox {

using kube::server::OpenApiContents;
using kube::server::OpenApiText;
using kube::server::ServedResource;
using kube::server::Subresource;

namespace {

std::vector<Subresource> SubresourcesOf(const ResourceInfo& info) {
  const std::vector<std::string> verbs = {"get", "patch", "update"};
  std::vector<Subresource> out;
  if (HasApproval(info)) out.push_back({"approval", info.resource.gvk, verbs});
  if (IsNamespaceKind(info)) out.push_back({"finalize", info.resource.gvk, {"update"}});
  if (info.scale.has_value()) out.push_back({"scale", ScaleKind(), verbs});
  if (info.status_subresource) out.push_back({"status", info.resource.gvk, verbs});
  return out;
}

kube::server::ServedResources Describe(const std::vector<ResourceInfoPtr>& served) {
  kube::server::ServedResources out;
  for (const ResourceInfoPtr& info : served) {
    out.push_back({info->resource, info->singular, info->short_names, info->categories,
                   info->Verbs(), "", SubresourcesOf(*info)});
  }
  return out;
}

void AddSchema(const ResourceInfo& info, const std::string& name, json::Value& schemas) {
  const kube::Gvk& gvk = info.resource.gvk;
  const auto* builtin = info.custom ? nullptr : kube::schema::FindKind(gvk);
  if (builtin != nullptr) {
    kube::server::AddBuiltinSchema(name, *builtin, schemas);
  } else if (info.schema != nullptr && info.schema->root().is_object()) {
    schemas.Set(name, info.schema->root());
  } else {
    schemas.Set(name, json::Value::Object({{"type", "object"}}));
  }
  schemas.Set({name, "x-kubernetes-group-version-kind"},
              json::Value::Array({kube::server::KindExtension(gvk)}));
}

std::string PathOf(const ResourceInfo& info) {
  return kube::server::OpenApiPath(info.resource.gvk.group, info.resource.gvk.version);
}

// Returns the document of one group and version.
OpenApiText TextOf(const std::vector<ResourceInfoPtr>& served, const std::string& path) {
  OpenApiContents contents;
  for (const ResourceInfoPtr& info : served) {
    if (PathOf(*info) != path) continue;
    const std::string name = kube::server::OpenApiSchemaName(info->resource.gvk);
    contents.resources.push_back({info->resource, info->Verbs(), name});
    AddSchema(*info, name, contents.schemas);
  }
  return {path, json::Write(kube::server::OpenApiV3Document(contents))};
}

base::HttpResponse Index(const base::HttpRequest& request,
                         const std::vector<ResourceInfoPtr>& served) {
  std::vector<OpenApiText> documents;
  for (const ResourceInfoPtr& info : served) {
    const std::string path = PathOf(*info);
    const bool known = std::any_of(documents.begin(), documents.end(),
                                   [&](const OpenApiText& d) { return d.first == path; });
    if (!known) documents.push_back(TextOf(served, path));
  }
  return kube::server::OpenApiIndexAnswer(request, documents);
}

// Returns one length-delimited protobuf field. REQUIRES: field < 16 and fewer than 128 bytes.
std::string ProtoField(int field, absl::string_view bytes) {
  std::string out;
  out.push_back(static_cast<char>(field << 3 | 2));
  out.push_back(static_cast<char>(bytes.size()));
  return absl::StrCat(out, bytes);
}

base::HttpResponse Version2(const base::HttpRequest& request) {
  const OpenApiContents nothing;
  if (!absl::StrContains(request.Header("accept"), "openapi.spec.v2")) {
    return kube::server::OpenApiV2Answer(request,
                                         json::Write(kube::server::OpenApiV2Document(nothing)));
  }
  base::HttpResponse response;
  // Clients ask for "...v2@v1.0+protobuf", but Go refuses to parse an "@" in an answer's type.
  response.content_type = "application/com.github.proto-openapi.spec.v2.v1.0+protobuf";
  // The message is openapi.v2.Document: swagger = 1, info = 2 (title = 1, version = 2), paths = 8.
  response.body = absl::StrCat(
      ProtoField(1, "2.0"),
      ProtoField(2, absl::StrCat(ProtoField(1, nothing.title), ProtoField(2, nothing.version))),
      ProtoField(8, ""));
  return response;
}

}  // namespace

std::optional<base::HttpResponse> DocumentAnswer(const base::HttpRequest& request,
                                                 const std::vector<ResourceInfoPtr>& served) {
  if (request.path == "/openapi/v2") return Version2(request);
  if (request.path == "/openapi/v3") return Index(request, served);
  absl::string_view path = request.path;
  if (!absl::ConsumePrefix(&path, "/openapi/v3/")) {
    return kube::server::DiscoveryAnswer(request, Describe(served));
  }
  for (const ResourceInfoPtr& info : served) {
    if (PathOf(*info) != path) continue;
    return kube::server::OpenApiV3Answer(request, TextOf(served, std::string(path)));
  }
  return std::nullopt;
}

std::optional<base::HttpResponse> DocumentAnswers::Find(const base::HttpRequest& request,
                                                        std::vector<ResourceInfoPtr> served) {
  std::string key = request.target;
  for (const auto& [name, value] : request.headers) absl::StrAppend(&key, "\n", name, ":", value);
  absl::MutexLock lock(&mu_);
  if (served != served_) Clear();
  served_ = std::move(served);
  const auto found = answers_.find(key);
  if (found != answers_.end()) return found->second;
  std::optional<base::HttpResponse> answer = DocumentAnswer(request, served_);
  if (!answer.has_value()) return answer;
  const size_t bytes = key.size() + answer->body.size();
  if (bytes_ + bytes > kMostBytes) Clear();
  bytes_ += bytes;
  answers_.emplace(std::move(key), *answer);
  return answer;
}

void DocumentAnswers::Clear() {
  answers_.clear();
  bytes_ = 0;
}

}  // namespace sandbox
