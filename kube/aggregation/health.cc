// Answers the health endpoints in the text format of apiserver's healthz package, which probes and
// people read. The mutex guards the list of checks and the flag of the shutdown; checks are copied
// under it and run without it, one after the other on the server's thread, so a check must not
// block. A check's message is shown only at the check's own path: the summary is public, and
// messages may name addresses.

#include "kube/aggregation/health.h"

#include <algorithm>
#include <utility>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "absl/strings/strip.h"
#include "base/log.h"

namespace kube::aggregation {
namespace {

constexpr char kPing[] = "ping";
constexpr char kShutdown[] = "shutdown";
constexpr absl::string_view kEndpoints[] = {"healthz", "livez", "readyz"};

base::HttpResponse Text(int code, std::string body) {
  return {.code = code,
          .content_type = "text/plain; charset=utf-8",
          .headers = {{"X-Content-Type-Options", "nosniff"}},
          .body = std::move(body)};
}

// The endpoint and the check that a path names: "livez" and "" for /livez.
struct Place {
  absl::string_view endpoint;
  absl::string_view check;
};

Place PlaceOf(absl::string_view path) {
  // "/livezfoo" is not an endpoint: what follows the name is nothing or a slash.
  for (absl::string_view endpoint : kEndpoints) {
    absl::string_view rest = path;
    if (!absl::ConsumePrefix(&rest, "/") || !absl::ConsumePrefix(&rest, endpoint)) continue;
    if (rest.empty() || absl::ConsumePrefix(&rest, "/")) return {endpoint, rest};
  }
  return {};
}

// Each name once, sorted.
std::vector<std::string> ExcludedBy(const base::HttpRequest& request) {
  std::vector<std::string> excluded;
  for (const auto& [name, value] : request.query) {
    if (name == "exclude") excluded.push_back(value);
  }
  std::sort(excluded.begin(), excluded.end());
  excluded.erase(std::unique(excluded.begin(), excluded.end()), excluded.end());
  return excluded;
}

bool IsVerbose(const base::HttpRequest& request) {
  return std::any_of(request.query.begin(), request.query.end(),
                     [](const auto& parameter) { return parameter.first == "verbose"; });
}

std::string QuotedList(const std::vector<std::string>& names) {
  return absl::StrJoin(names, ",", [](std::string* out, const std::string& name) {
    absl::StrAppend(out, "\"", name, "\"");
  });
}

}  // namespace

HealthEndpoints::HealthEndpoints() {
  Add(kPing, Scope::kAll, [] { return absl::OkStatus(); });
}

void HealthEndpoints::Add(std::string name, Scope scope, Check check) {
  absl::MutexLock lock(&mu_);
  checks_.push_back({std::move(name), scope, std::move(check)});
}

void HealthEndpoints::BeginShutdown() {
  absl::MutexLock lock(&mu_);
  shutting_down_ = true;
}

bool HealthEndpoints::Serves(absl::string_view path) { return !PlaceOf(path).endpoint.empty(); }

std::vector<HealthEndpoints::Named> HealthEndpoints::ChecksOf(absl::string_view endpoint) const {
  const bool readiness = endpoint == "readyz";
  std::vector<Named> checks;
  absl::MutexLock lock(&mu_);
  for (const Named& named : checks_) {
    if (readiness || named.scope == Scope::kAll) checks.push_back(named);
  }
  if (!readiness) return checks;
  checks.push_back({kShutdown, Scope::kReadiness, [ends = shutting_down_] {
                      return ends ? absl::UnavailableError("process is shutting down")
                                  : absl::OkStatus();
                    }});
  return checks;
}

// Upstream's handleRootHealth and adaptCheckToHandler.
base::HttpResponse HealthEndpoints::Answer(const base::HttpRequest& request) const {
  const Place place = PlaceOf(request.path);
  if (place.endpoint.empty()) return Text(404, "404 page not found\n");
  const std::vector<Named> checks = ChecksOf(place.endpoint);
  if (!place.check.empty()) {
    const auto named = std::find_if(checks.begin(), checks.end(),
                                    [&](const Named& check) { return check.name == place.check; });
    if (named == checks.end()) return Text(404, "404 page not found\n");
    const absl::Status status = named->check();
    if (status.ok()) return Text(200, "ok");
    return Text(500, absl::StrCat("internal server error: ", status.message(), "\n"));
  }
  std::vector<std::string> unknown = ExcludedBy(request);
  std::string lines;
  bool healthy = true;
  for (const Named& named : checks) {
    const auto excluded = std::find(unknown.begin(), unknown.end(), named.name);
    if (excluded != unknown.end()) {
      // What remains in the list at the end has named no check.
      unknown.erase(excluded);
      absl::StrAppend(&lines, "[+]", named.name, " excluded: ok\n");
      continue;
    }
    const absl::Status status = named.check();
    if (!status.ok() && base::VlogOn(2)) {
      base::LogInfo("health check failed",
                    {{"endpoint", place.endpoint}, {"check", named.name}, {"error", status}});
    }
    healthy = healthy && status.ok();
    absl::StrAppend(&lines, status.ok() ? "[+]" : "[-]", named.name,
                    status.ok() ? " ok\n" : " failed: reason withheld\n");
  }
  if (!unknown.empty()) {
    absl::StrAppend(&lines, "warn: some health checks cannot be excluded: no matches for ",
                    QuotedList(unknown), "\n");
  }
  if (!healthy) return Text(500, absl::StrCat(lines, place.endpoint, " check failed\n"));
  if (!IsVerbose(request)) return Text(200, "ok");
  return Text(200, absl::StrCat(lines, place.endpoint, " check passed\n"));
}

}  // namespace kube::aggregation
