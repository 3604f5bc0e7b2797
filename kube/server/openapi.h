// OpenAPI documents with the parts that kubectl and kube-aggregator use: which kinds there are,
// that patches take fieldValidation, and the schemas of all kinds. They are JSON only: aggregators
// and kubectl ask for JSON, and a client that accepts nothing but protobuf gets 406.
#ifndef KUBE_SERVER_OPENAPI_H_
#define KUBE_SERVER_OPENAPI_H_

#include <string>
#include <utility>
#include <vector>

#include "absl/strings/string_view.h"
#include "base/http_server.h"
#include "base/json.h"
#include "kube/meta/names.h"

namespace kube::server {

struct OpenApiResource {
  kube::Resource resource;
  std::vector<std::string> verbs;
  std::string schema;  // The name of the schema of its objects.
};

// What a document says.
struct OpenApiContents {
  std::string title = "Kubernetes";
  std::string version = "unversioned";
  std::vector<OpenApiResource> resources;
  // By name, in the form of version 3: references are "#/components/schemas/NAME".
  json::Value schemas = json::Value::Object();
};

json::Value OpenApiV3Document(const OpenApiContents& contents);
// The same as swagger 2.0; what that cannot say (nullable, oneOf, anyOf, not) is left out.
json::Value OpenApiV2Document(const OpenApiContents& contents);

// Returns the value of x-kubernetes-group-version-kind in a schema.
json::Value KindExtension(const kube::Gvk& gvk);
// Returns "api/v1" or "apis/apps/v1", by which the index of version 3 names a document.
std::string OpenApiPath(absl::string_view group, absl::string_view version);
// Returns "io.karmada.policy.v1alpha1.PropagationPolicy", as kube-apiserver names the schemas of
// definitions, and "io.k8s.api.core.v1.Pod" for the core group.
std::string OpenApiSchemaName(const kube::Gvk& gvk);

// A document of version 3 as it is sent: its path in the index and its text.
using OpenApiText = std::pair<std::string, std::string>;
// Answers GET /openapi/v3: where the documents are, with hashes that change with them.
base::HttpResponse OpenApiIndexAnswer(const base::HttpRequest& request,
                                      const std::vector<OpenApiText>& documents);
// Answers GET /openapi/v3/PATH. A request with the hash of another text is redirected; one with the
// right hash may be kept for ever.
base::HttpResponse OpenApiV3Answer(const base::HttpRequest& request, const OpenApiText& document);
// Answers GET /openapi/v2 with a text of version 2.
base::HttpResponse OpenApiV2Answer(const base::HttpRequest& request, absl::string_view document);

}  // namespace kube::server

#endif  // KUBE_SERVER_OPENAPI_H_
