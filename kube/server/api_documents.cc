#include "kube/server/api_documents.h"

#include <utility>
#include <vector>

#include "absl/strings/str_cat.h"
#include "absl/strings/string_view.h"
#include "absl/strings/strip.h"
#include "kube/server/negotiation.h"

namespace kube::server {
namespace {

json::Value RootPaths(const kube::Gvk& gvk) {
  const std::string group = absl::StrCat("/apis/", gvk.group);
  const std::string version = absl::StrCat(group, "/", gvk.version);
  return json::Value::Object(
      {{"paths",
        json::Value::Array({"/apis", group, version, "/healthz", "/livez", "/metrics",
                            "/openapi/v2", "/openapi/v3", absl::StrCat("/openapi/v3", version),
                            "/readyz", "/version"})}});
}

OpenApiText TextOfV3(const kube::Gvk& gvk, const OpenApiContents& contents) {
  return {OpenApiPath(gvk.group, gvk.version), json::Write(OpenApiV3Document(contents))};
}

}  // namespace

ApiDocuments::ApiDocuments(ServedResources served, const OpenApiContents& contents)
    : served_(std::move(served)),
      openapi_v2_(json::Write(OpenApiV2Document(contents))),
      openapi_v3_(TextOfV3(served_.front().resource.gvk, contents)) {}

std::optional<base::HttpResponse> ApiDocuments::Answer(const base::HttpRequest& request) const {
  if (request.method != "GET" && request.method != "HEAD") return std::nullopt;
  if (request.path == "/openapi/v2") return OpenApiV2Answer(request, openapi_v2_);
  if (request.path == "/openapi/v3") return OpenApiIndexAnswer(request, {openapi_v3_});
  absl::string_view path = request.path;
  if (absl::ConsumePrefix(&path, "/openapi/v3/")) {
    if (path != openapi_v3_.first) return std::nullopt;
    return OpenApiV3Answer(request, openapi_v3_);
  }
  if (path == "/") return AnswerOf(200, RootPaths(served_.front().resource.gvk), {});
  return DiscoveryAnswer(request, served_);
}

ServedResource ConnectingResource(const kube::Gvk& gvk, const char* name,
                                  std::vector<std::string> verbs) {
  ServedResource out;
  out.resource = {gvk, name, false};
  out.singular = name;
  out.verbs = std::move(verbs);
  return out;
}

}  // namespace kube::server
