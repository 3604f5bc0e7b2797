#include "sandbox/http/interference.h"

#include <algorithm>
#include <utility>

#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "kube/server/negotiation.h"
#include "kube/server/write_request.h"
#include "sandbox/http/fault_injection.h"

namespace sandbox {
namespace {

constexpr char kApplyPatch[] = "application/apply-patch+";

bool IsReview(const kube::Gvr& gvr) {
  return gvr.group == "authorization.k8s.io" || gvr.group == "authentication.k8s.io";
}

ApiError WithRetryAfter(ApiError error, absl::Duration retry_after) {
  if (retry_after <= absl::ZeroDuration()) return error;
  const int64_t seconds = std::max<int64_t>(1, absl::ToInt64Seconds(retry_after));
  error.details = json::Value::Object({{"retryAfterSeconds", seconds}});
  return error;
}

bool IsDryRun(const kube::server::RequestInfo& info, const base::HttpRequest& request) {
  if (info.verb != "delete" && info.verb != "deletecollection") {
    return !request.Query("dryRun").empty();
  }
  const auto options = kube::server::ReadDelete(request);
  return options.ok() && options->dry_run;
}

}  // namespace

RequestFacts FactsOf(std::string server, const kube::server::RequestInfo& info,
                     const base::HttpRequest& request) {
  const absl::string_view agent = request.Header("user-agent");
  RequestFacts facts;
  facts.server = std::move(server);
  facts.client = std::string(agent.substr(0, agent.find(' ')));
  facts.info = info;
  facts.dry_run = info.is_resource && IsDryRun(info, request);
  facts.http = std::make_shared<const base::HttpRequest>(request);
  return facts;
}

std::string RequestFacts::Verb() const {
  const bool applies = absl::StartsWith(http->Header("content-type"), kApplyPatch);
  return info.verb == "patch" && applies ? "apply" : info.verb;
}

bool RequestFacts::IsWrite() const {
  if (!info.is_resource || dry_run || IsReview(info.gvr) || info.subresource == "proxy") {
    return false;
  }
  for (const char* verb : {"create", "update", "patch", "delete", "deletecollection"}) {
    if (info.verb == verb) return true;
  }
  return false;
}

absl::StatusOr<json::Value> RequestFacts::Body() const { return kube::server::BodyOf(*http); }

std::string RequestFacts::ToString() const {
  const std::string start = absl::StrCat(server, " ", number, " ", Verb(), " ");
  if (!info.is_resource) return start + http->path;
  const std::string group = info.gvr.group.empty() ? "" : "." + info.gvr.group;
  const std::string part = info.subresource.empty() ? "" : "/" + info.subresource;
  return absl::StrCat(start, info.gvr.resource, group, part, " ", info.key.ns, "/", info.key.name);
}

ApiError InjectedError(int code, absl::Duration retry_after) {
  return WithRetryAfter(UsualError(code), retry_after);
}

ApiError InjectedError(int code, std::string reason, std::string message,
                       absl::Duration retry_after) {
  return WithRetryAfter({code, std::move(reason), std::move(message), {}}, retry_after);
}

}  // namespace sandbox
