#include "kube/runtime/internal/http_endpoints.h"

#include <algorithm>
#include <optional>
#include <utility>

#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/string_view.h"

namespace kube::internal {
namespace {

// The limit of the health and of the metrics server: many more than probes and scrapers need, and
// few enough to cost little memory and leave descriptors for the connections to members.
constexpr size_t kMaxConnections = 500;
// Probes and scrapers send their request as soon as they have connected.
constexpr absl::Duration kFirstRequestTimeout = absl::Seconds(10);

constexpr char kText[] = "text/plain; charset=utf-8";

base::HttpResponse Text(int code, std::string body) {
  return {.code = code, .content_type = kText, .body = std::move(body)};
}

bool IsRead(const base::HttpRequest& request) {
  return request.method == "GET" || request.method == "HEAD";
}

bool IsVerbose(const base::HttpRequest& request) {
  return std::any_of(request.query.begin(), request.query.end(),
                     [](const auto& parameter) { return parameter.first == "verbose"; });
}

base::HttpResponse AnswerChecks(const base::HttpRequest& request, absl::string_view name,
                                std::vector<HealthCheck> checks) {
  checks.insert(checks.begin(), HealthCheck{.name = "ping"});
  std::string lines;
  bool ok = true;
  for (const HealthCheck& check : checks) {
    absl::StrAppend(&lines, check.ok ? "[+]" : "[-]", check.name, check.ok ? " ok" : " failed",
                    check.remark.empty() ? "" : ": ", check.remark, "\n");
    ok = ok && check.ok;
  }
  if (ok && !IsVerbose(request)) return Text(200, "ok");
  return Text(ok ? 200 : 500,
              absl::StrCat(lines, name, ok ? " check passed\n" : " check failed\n"));
}

}  // namespace

absl::StatusOr<std::unique_ptr<base::HttpServer>> Serve(
    const std::string& address,
    std::function<base::HttpResponse(const base::HttpRequest&)> answer) {
  if (address.empty() || address == "0") return nullptr;
  base::HttpServerOptions options;
  options.address = address;
  // Requests without a body are served to everybody; requests with one are refused.
  options.check_head = [](const base::HttpRequest&) -> std::optional<base::HttpResponse> {
    return base::HttpResponse{405, "text/plain", {}, "requests with a body are not served\n"};
  };
  options.max_connections = kMaxConnections;
  options.first_request_timeout = kFirstRequestTimeout;
  return base::HttpServer::Start(
      std::move(options),
      [answer = std::move(answer)](base::HttpRequest request,
                                   std::shared_ptr<base::HttpResponder> responder) {
        responder->Send(answer(request));
      });
}

base::HttpResponse AnswerHealth(const base::HttpRequest& request,
                                const std::function<std::vector<HealthCheck>()>& readiness) {
  if (!IsRead(request)) return Text(405, "method not allowed\n");
  for (const absl::string_view check : {"healthz", "livez", "readyz"}) {
    const std::string path = absl::StrCat("/", check);
    if (request.path == absl::StrCat(path, "/ping")) return Text(200, "ok");
    if (request.path != path && request.path != absl::StrCat(path, "/")) continue;
    return AnswerChecks(request, check,
                        check == "readyz" ? readiness() : std::vector<HealthCheck>());
  }
  return Text(404, "404 page not found\n");
}

base::HttpResponse AnswerMetrics(const base::HttpRequest& request,
                                 const std::function<std::string()>& expose, const Pages& pages) {
  if (!IsRead(request)) return Text(405, "method not allowed\n");
  if (const auto page = pages.find(request.path); page != pages.end()) {
    return {.code = 200, .body = page->second()};
  }
  if (request.path != "/metrics") return Text(404, "404 page not found\n");
  return {
      .code = 200, .content_type = "text/plain; version=0.0.4; charset=utf-8", .body = expose()};
}

}  // namespace kube::internal
