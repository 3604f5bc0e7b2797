// InnerRequestOf takes the request apart in an order that lets nothing pass unchecked: the escaped
// path is split from the query and its prefix compared byte for byte; query and path are checked;
// only then is the path decoded, once, and the request read from it. The choice of a cluster (path,
// parameter or header) and the demand for completeness are removed from the target, the parsed
// query and the headers alike, so that no member sees them. For the subresource "proxy" of a
// Service or Pod the parameters belong to the application behind it and are left alone; only
// headers count. It keeps no state.

#include "search/proxy/internal/inner_request.h"

#include <algorithm>
#include <utility>
#include <vector>

#include "absl/strings/ascii.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_split.h"
#include "absl/strings/strip.h"
#include "api/search_keys.h"
#include "api/search_paths.h"
#include "base/status.h"
#include "kube/aggregation/request_fields.h"
#include "kube/meta/selector.h"
#include "kube/server/api_errors.h"
#include "search/proxy/internal/completeness.h"
#include "search/proxy/internal/path_rules.h"

namespace search {
namespace {

constexpr char kEverything[] = "karmada";
constexpr char kProxy[] = "proxy";

// Takes the first segment of an escaped path off; the rest is empty or begins with a slash.
absl::string_view TakeSegment(absl::string_view& path) {
  if (!absl::ConsumePrefix(&path, "/")) return "";
  const absl::string_view segment = path.substr(0, path.find('/'));
  path.remove_prefix(segment.size());
  return segment;
}

// Returns the escaped path of the inner request. Notes the cluster if the path has one. The name is
// what rights are asked about, so it has one spelling only.
absl::StatusOr<absl::string_view> InnerPath(absl::string_view path, InnerRequest& inner) {
  if (!absl::ConsumePrefix(&path, api::kProxyingPath)) {
    // The decoded path has this prefix. Whoever authorized the request may have seen another one.
    return kube::server::BadRequest(absl::StrCat("the path is refused: ", api::kProxyingPath,
                                                 " must be written without encoding"));
  }
  const absl::string_view name = TakeSegment(path);
  if (name != kEverything && !kube::ValidateDns1123Label(name).ok()) {
    return kube::server::NoSuchResource();
  }
  if (TakeSegment(path) != kProxy) return kube::server::NoSuchResource();
  if (name != kEverything) inner.cluster = std::string(name);
  inner.cluster_in_path = name != kEverything;
  return path.empty() ? absl::string_view("/") : path;
}

absl::Status Choose(const std::string& name, InnerRequest& inner) {
  RETURN_IF_ERROR(CheckClusterName(name));
  if (inner.cluster.empty()) inner.cluster = name;
  if (inner.cluster == name) return absl::OkStatus();
  return kube::server::BadRequest(absl::StrCat("the request names two clusters, ", inner.cluster,
                                               " and ", name, ": its path, the query parameter \"",
                                               api::kClusterParameter, "\" and the header ",
                                               api::kClusterHeader, " must name the same one"));
}

// Takes the choice of a cluster out of the request.
absl::Status TakeCluster(InnerRequest& inner, std::string& query) {
  std::vector<std::string> chosen;
  // An application behind the cluster may have a parameter of that name.
  if (inner.info.subresource != kProxy) {
    ASSIGN_OR_RETURN(auto taken, WithoutParameter(query, api::kClusterParameter));
    query = std::move(taken.first);
    chosen = std::move(taken.second);
    std::erase_if(inner.request.query,
                  [](const auto& pair) { return pair.first == api::kClusterParameter; });
  }
  // As names of headers are compared.
  const std::string header = absl::AsciiStrToLower(api::kClusterHeader);
  for (const absl::string_view value : kube::aggregation::ValuesOf(inner.request, header)) {
    chosen.emplace_back(value);
  }
  kube::aggregation::RemoveFields(inner.request,
                                  [&](absl::string_view name) { return name == header; });
  for (const std::string& name : chosen) RETURN_IF_ERROR(Choose(name, inner));
  return absl::OkStatus();
}

// Takes the demand for a complete answer out of the request.
absl::Status TakeComplete(InnerRequest& inner, std::string& query) {
  const bool of_application = inner.info.subresource == kProxy;
  ASSIGN_OR_RETURN(inner.complete, CompleteDemanded(inner.request, of_application));
  if (!of_application) {
    ASSIGN_OR_RETURN(auto taken, WithoutParameter(query, api::kCompleteParameter));
    query = std::move(taken.first);
    std::erase_if(inner.request.query,
                  [](const auto& pair) { return pair.first == api::kCompleteParameter; });
  }
  const std::string header = absl::AsciiStrToLower(api::kCompleteHeader);
  kube::aggregation::RemoveFields(inner.request,
                                  [&](absl::string_view name) { return name == header; });
  return absl::OkStatus();
}

absl::Status CheckQuery(absl::string_view query) {
  const bool clean = std::all_of(query.begin(), query.end(),
                                 [](char c) { return c > 0x20 && c < 0x7f && c != '#'; });
  if (clean) return absl::OkStatus();
  return kube::server::BadRequest(
      "the query of the proxied request is refused: it has a character that has to be "
      "percent-encoded");
}

}  // namespace

absl::Status CheckClusterName(absl::string_view name) {
  if (kube::ValidateDns1123Label(name).ok()) return absl::OkStatus();
  return kube::server::BadRequest(
      absl::StrCat("\"", name, "\" is not the name of a cluster: the query parameter \"",
                   api::kClusterParameter, "\" and the header ", api::kClusterHeader,
                   " take the name of one cluster; without them the request is for all"));
}

bool IsProxyingPath(absl::string_view path) {
  return absl::ConsumePrefix(&path, api::kProxyingPath) && (path.empty() || path[0] == '/');
}

absl::StatusOr<InnerRequest> InnerRequestOf(base::HttpRequest outer) {
  InnerRequest inner;
  inner.request = std::move(outer);
  const std::string target = std::exchange(inner.request.target, "");
  const std::pair<absl::string_view, absl::string_view> parts =
      absl::StrSplit(target, absl::MaxSplits('?', 1));
  std::string query(parts.second);
  ASSIGN_OR_RETURN(const absl::string_view path, InnerPath(parts.first, inner));
  RETURN_IF_ERROR(CheckQuery(query));
  RETURN_IF_ERROR(CheckPath(path));
  ASSIGN_OR_RETURN(inner.request.path, PercentDecoded(path));
  inner.request.target = std::string(path);
  inner.info = kube::server::ReadRequest(inner.request);
  // A Namespace is an object without a namespace.
  if (inner.info.gvr.resource == "namespaces") inner.info.key.ns.clear();
  RETURN_IF_ERROR(TakeCluster(inner, query));
  RETURN_IF_ERROR(TakeComplete(inner, query));
  if (!query.empty()) absl::StrAppend(&inner.request.target, "?", query);
  return inner;
}

}  // namespace search
