#include "kube/aggregation/endpoints.h"

#include <string>

#include "absl/strings/str_cat.h"

namespace kube::aggregation {
namespace {

constexpr char kMetrics[] = "/metrics";
constexpr char kVersion[] = "/version";

}  // namespace

bool Endpoints::IsOwn(const std::string& path) const {
  return HealthEndpoints::Serves(path) || path == kMetrics || path == kVersion ||
         path == "/version/" || pages_.contains(path);
}

bool Endpoints::MayBlock(const ApiRequest& request) const {
  // Writing all metrics takes a while.
  if (request.http.path == kMetrics) return true;
  return IsOwn(request.http.path) ? false : next_.MayBlock(request);
}

void Endpoints::Handle(ApiRequest request, std::shared_ptr<base::HttpResponder> responder) {
  const std::string& path = request.http.path;
  if (!IsOwn(path)) return next_.Handle(std::move(request), std::move(responder));
  const bool reads = request.http.method == "GET" || request.http.method == "HEAD";
  if (!reads) {
    return responder->Send({.code = 405,
                            .content_type = "text/plain; charset=utf-8",
                            .headers = {{"Allow", "GET, HEAD"}},
                            .body = "method not allowed\n"});
  }
  if (HealthEndpoints::Serves(path)) return responder->Send(health_.Answer(request.http));
  if (path == kMetrics) {
    if (update_) update_();
    return responder->Send(
        {.content_type = "text/plain; version=0.0.4; charset=utf-8", .body = registry_.Expose()});
  }
  if (const auto page = pages_.find(path); page != pages_.end()) {
    return responder->Send(page->second(request.http));
  }
  responder->Send({.body = absl::StrCat(json::Write(version_, {.indent = 2}), "\n")});
}

}  // namespace kube::aggregation
