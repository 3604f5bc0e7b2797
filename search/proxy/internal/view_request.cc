#include "search/proxy/internal/view_request.h"

#include <string>
#include <utility>
#include <vector>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "absl/strings/str_split.h"
#include "absl/strings/strip.h"
#include "api/search_paths.h"
#include "base/status.h"
#include "kube/server/api_errors.h"
#include "search/proxy/internal/path_rules.h"

namespace search {
namespace {

// Takes "/<category>" off an escaped path; the rest is empty or begins with a slash.
absl::StatusOr<ViewRequest::Category> TakeCategory(absl::string_view& path) {
  absl::ConsumePrefix(&path, "/");
  const absl::string_view name = path.substr(0, path.find('/'));
  path.remove_prefix(name.size());
  if (name == "cache") return ViewRequest::Category::kCache;
  if (name == "opensearch") return ViewRequest::Category::kOpenSearch;
  return kube::server::ToStatus(
      {404, "NotFound", absl::StrCat("connect with unrecognized search category ", name), {}});
}

// Upstream calls the segments from the resource on "parts".
std::string PartsText(const kube::server::RequestInfo& info) {
  std::vector<absl::string_view> parts = {info.gvr.resource, info.key.name, info.subresource};
  for (const absl::string_view part : absl::StrSplit(info.sub_path, '/', absl::SkipEmpty())) {
    parts.push_back(part);
  }
  return absl::StrCat("[", absl::StrJoin(parts, " "), "]");
}

absl::Status CheckInfo(const ViewRequest& view) {
  const kube::server::RequestInfo& info = view.info;
  if (!info.is_resource) {
    return kube::server::BadRequest(absl::StrCat(
        "k8s native Request URL(", view.request.path.substr(1), ") is not a resource request"));
  }
  if (!info.subresource.empty()) {
    return kube::server::BadRequest(
        absl::StrCat("invalid request parts(", PartsText(info), ") for k8s native request URL"));
  }
  if (info.verb == "get" || info.verb == "list") return absl::OkStatus();
  return kube::server::BadRequest(
      "the view of all clusters cannot be watched; watch through the proxy instead");
}

}  // namespace

bool IsViewPath(absl::string_view path) {
  return absl::ConsumePrefix(&path, api::kSearchPath) && (path.empty() || path[0] == '/');
}

absl::StatusOr<ViewRequest> ViewRequestOf(base::HttpRequest outer) {
  const std::string target = std::exchange(outer.target, "");
  const std::pair<absl::string_view, absl::string_view> parts =
      absl::StrSplit(target, absl::MaxSplits('?', 1));
  absl::string_view path = parts.first;
  if (!absl::ConsumePrefix(&path, api::kSearchPath)) {
    return kube::server::BadRequest(absl::StrCat("the path is refused: ", api::kSearchPath,
                                                 " must be written without encoding"));
  }
  ViewRequest view;
  ASSIGN_OR_RETURN(view.category, TakeCategory(path));
  if (outer.method != "GET" && outer.method != "HEAD") {
    return kube::server::MethodNotAllowed(
        absl::StrCat(outer.method, " is not supported on resources of kind \"search.karmada.io\""));
  }
  if (path.empty() || path == "/") {
    const absl::string_view name =
        view.category == ViewRequest::Category::kCache ? "cache" : "opensearch";
    return kube::server::BadRequest(absl::StrCat("invalid requestInfo parts: [search ", name, "]"));
  }
  RETURN_IF_ERROR(CheckPath(path));
  view.request = std::move(outer);
  ASSIGN_OR_RETURN(view.request.path, PercentDecoded(path));
  view.request.target = absl::StrCat(path, parts.second.empty() ? "" : "?", parts.second);
  view.info = kube::server::ReadRequest(view.request);
  // A Namespace is an object without a namespace.
  if (view.info.gvr.resource == "namespaces") view.info.key.ns.clear();
  RETURN_IF_ERROR(CheckInfo(view));
  return view;
}

}  // namespace search
