#include "kube/runtime/internal/http_endpoints.h"

#include <algorithm>

#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/string_view.h"

namespace kube::internal {
namespace {

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
                                 const std::function<std::string()>& expose) {
  if (!IsRead(request)) return Text(405, "method not allowed\n");
  if (request.path != "/metrics") return Text(404, "404 page not found\n");
  return {
      .code = 200, .content_type = "text/plain; version=0.0.4; charset=utf-8", .body = expose()};
}

}  // namespace kube::internal
