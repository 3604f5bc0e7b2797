// The query of a read through the proxy, or of a request to the view: what cannot be understood is
// the client's mistake, and what is understood can be evaluated on an object.
#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <string>

#include "absl/strings/str_cat.h"
#include "api/search_paths.h"
#include "base/json.h"
#include "kube/server/api_errors.h"
#include "search/cache/composite_version.h"
#include "search/cache/internal/continue_token.h"
#include "search/proxy/internal/inner_request.h"
#include "search/proxy/internal/view_request.h"
#include "search/proxy/read_request.h"

namespace {

const kube::Resource kPods{{"", "v1", "Pod"}, "pods", true};
constexpr char kPod[] = R"({"metadata":{"name":"web","namespace":"default","labels":{"app":"web"},
"resourceVersion":"7"},"spec":{"nodeName":"n1"},"status":{"phase":"Running"}})";

kube::EncodedPtr Pod() {
  return kube::EncodedObject::Make(
      kube::Object(*json::Parse(kPod)),
      json::Fields({"metadata.name", "metadata.namespace", "metadata.labels", "spec.nodeName"}));
}

void CheckRefusal(const absl::Status& status) {
  const int code = kube::server::ErrorOf(status).code;
  if (!kube::server::IsApiError(status) || code < 400 || code >= 500) std::abort();
}

void Read(base::HttpRequest request, const kube::server::RequestInfo& info) {
  static const kube::EncodedPtr pod = Pod();
  static const search::CustomKinds kinds;
  const auto read =
      search::ReadRequest::Read({.http = std::move(request), .info = info}, kPods, "", kinds);
  if (!read.ok()) return CheckRefusal(read.status());
  (void)read->filter.Matches(*pod);
  (void)search::CompositeVersion::Parse(read->options.resource_version).Number("member1");
  (void)search::internal::ContinueToken::Parse(read->options.continue_token);
}

base::HttpRequest Request(absl::string_view base, absl::string_view target) {
  base::HttpRequest request;
  request.method = "GET";
  request.target = absl::StrCat(base, target);
  request.path = std::string(base);
  return request;
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  const absl::string_view text(reinterpret_cast<const char*>(data), size);
  for (const absl::string_view path : {"/api/v1/pods?", "/api/v1/namespaces/default/pods?watch=1&",
                                       "/api/v1/namespaces/default/pods/web?"}) {
    const auto inner = search::InnerRequestOf(
        Request(api::kProxyingPath, absl::StrCat("/karmada/proxy", path, text)));
    if (inner.ok()) {
      Read(inner->request, inner->info);
    } else {
      CheckRefusal(inner.status());
    }
  }
  const auto view = search::ViewRequestOf(Request(api::kSearchPath, text));
  if (view.ok()) {
    Read(view->request, view->info);
  } else {
    CheckRefusal(view.status());
  }
  return 0;
}
