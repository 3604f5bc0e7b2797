#include "cmd/search/request_subject.h"

#include <algorithm>
#include <array>
#include <string>

#include "absl/strings/str_cat.h"
#include "absl/strings/string_view.h"
#include "api/resource_registry.h"
#include "api/search_keys.h"
#include "kube/server/request_info.h"

namespace cmd {
namespace {

using kube::aggregation::ApiRequest;
using kube::aggregation::RequestSubject;
using kube::server::RequestInfo;

constexpr char kOther[] = "other";

std::string KnownSubresource(const std::string& name) {
  static constexpr std::array<absl::string_view, 12> kKnown = {
      "",         "attach", "binding", "ephemeralcontainers",
      "eviction", "exec",   "log",     "portforward",
      "proxy",    "scale",  "status",  "token"};
  return std::find(kKnown.begin(), kKnown.end(), name) == kKnown.end() ? kOther : name;
}

RequestSubject Subject(const RequestInfo& info, std::string endpoint, bool is_known) {
  RequestSubject subject{.verb = info.verb, .endpoint = std::move(endpoint)};
  if (!info.is_resource) return subject;
  subject.gvr.resource = kOther;
  if (!is_known) return subject;
  subject.gvr = info.gvr;
  subject.subresource = KnownSubresource(info.subresource);
  return subject;
}

}  // namespace

RequestSubject SubjectOf(const ApiRequest& request,
                         const std::function<bool(const kube::Gvr& gvr)>& is_registered) {
  const RequestInfo& outer = request.info;
  const bool is_own = outer.is_resource && outer.gvr.group == api::kSearchGroup;
  if (is_own && outer.gvr.resource == "proxying") {
    const RequestInfo inner = kube::server::ReadRequest(
        request.http.method, outer.sub_path, kube::server::QueryFlag(request.http, "watch"));
    return Subject(inner, "proxy", is_registered(inner.gvr));
  }
  const std::string& view = outer.key.name;
  if (is_own && outer.gvr.resource == "search" && (view == "cache" || view == "opensearch")) {
    RequestInfo inner = kube::server::ReadRequest(
        "GET", absl::StrCat("/", outer.subresource, outer.sub_path), /*watch=*/false);
    inner.verb = "list";
    return Subject(inner, view, is_registered(inner.gvr));
  }
  return Subject(outer, "", is_own && outer.gvr == api::ResourceRegistryResource().gvr());
}

}  // namespace cmd
