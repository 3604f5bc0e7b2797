#include "sandbox/http/fault_injection.h"

#include <utility>

#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "sandbox/kinds/api_errors.h"

namespace sandbox {
namespace {

struct Usual {
  int code;
  const char* reason;
  const char* message;
};

// The reasons and messages of a kube-apiserver for these codes.
constexpr Usual kUsual[] = {
    {400, "BadRequest", "injected fault"},
    {401, "Unauthorized", "Unauthorized"},
    {403, "Forbidden", "injected fault: forbidden"},
    {404, "NotFound", "the server could not find the requested resource"},
    {409, "Conflict",
     "the object has been modified; please apply your changes to the latest "
     "version and try again"},
    {410, "Expired", "The resourceVersion for the provided watch is too old."},
    {422, "Invalid", "injected fault: invalid"},
    {429, "TooManyRequests", "Too many requests, please try again later."},
    {500, "InternalError", "Internal error occurred: injected fault"},
    {503, "ServiceUnavailable", "the server is currently unable to handle the request"},
    {504, "Timeout", "Timeout: request did not complete within the allotted timeout"},
};

}  // namespace

ApiError UsualError(int code) {
  for (const Usual& u : kUsual) {
    if (u.code == code) return {code, u.reason, u.message, {}};
  }
  return {code, "", absl::StrCat("injected fault ", code), {}};
}

void FaultInjection::SetLatency(absl::Duration d) {
  absl::MutexLock lock(&mu_);
  latency_ = d;
}

absl::Duration FaultInjection::latency() const {
  absl::MutexLock lock(&mu_);
  return latency_;
}

void FaultInjection::FailNext(int count, int code, std::string method, std::string path_part,
                              std::string reason, std::string message) {
  Failure failure{count, std::move(method), std::move(path_part), UsualError(code)};
  if (!reason.empty()) failure.error.reason = std::move(reason);
  if (!message.empty()) failure.error.message = std::move(message);
  absl::MutexLock lock(&mu_);
  failures_.push_back(std::move(failure));
}

absl::Status FaultInjection::Take(const base::HttpRequest& request) {
  absl::MutexLock lock(&mu_);
  for (Failure& f : failures_) {
    if (f.left <= 0) continue;
    if (!f.method.empty() && f.method != request.method) continue;
    if (!absl::StrContains(request.path, f.path_part)) continue;
    --f.left;
    return ToStatus(f.error);
  }
  return absl::OkStatus();
}

void FaultInjection::Clear() {
  {
    absl::MutexLock lock(&mu_);
    latency_ = absl::ZeroDuration();
    failures_.clear();
  }
  actions_.set_partitioned(false);
}

}  // namespace sandbox
