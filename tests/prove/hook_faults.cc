#include "tests/prove/hook_faults.h"

#include <algorithm>
#include <utility>

#include "absl/strings/escaping.h"
#include "absl/strings/numbers.h"
#include "absl/strings/str_cat.h"
#include "base/json.h"
#include "tests/prove/stage.h"

namespace prove {
namespace {

using Kind = HookVerdict::Kind;

// Of the webhooks of workloads the timeout is 10 s.
constexpr absl::Duration kHalfOfTimeout = absl::Seconds(5), kOverTimeout = absl::Seconds(15);

base::HttpResponse Json(const json::Value& body) {
  return {.code = 200, .body = json::Write(body)};
}

json::Value Parsed(const base::HttpResponse& answer) {
  return json::Parse(answer.body).value_or(json::Value::Object());
}

HookVerdict Instead(base::HttpResponse answer) { return {.instead = std::move(answer)}; }

HookVerdict WithField(const base::HttpResponse& right, const char* name, json::Value value) {
  json::Value message = Parsed(right);
  message.Set({"response", name}, std::move(value));
  return Instead(Json(message));
}

HookVerdict Empty(const base::HttpResponse& right) {
  json::Value message = Parsed(right);
  message.Erase("response");
  return Instead(Json(message));
}

HookVerdict Rejected(const base::HttpResponse& right) {
  json::Value message = Parsed(right);
  if (message["kind"].AsString() == "ExploreReview") {
    return Instead({.code = 400, .content_type = "text/plain", .body = "not this one"});
  }
  message.Set({"response", "successful"}, false);
  message.Set({"response", "status"},
              json::Value::Object({{"code", 400}, {"message", "not this one"}}));
  return Instead(Json(message));
}

HookVerdict BadPatch(const base::HttpResponse& right) {
  json::Value message = Parsed(right);
  constexpr char kPatch[] = R"([{"op":"test","path":"/spec/nowhere","value":1}])";
  message.Set({"response", "patchType"}, "JSONPatch");
  message.Set({"response", "patch"}, absl::Base64Escape(kPatch));
  return Instead(Json(message));
}

HookVerdict Code(int code) {
  base::HttpResponse answer = {.code = code, .content_type = "text/plain", .body = "not now"};
  if (code == 429) answer.headers.emplace_back("Retry-After", "1");
  return Instead(std::move(answer));
}

HookVerdict VerdictOf(const Plan& plan, const base::HttpResponse& right) {
  const std::string& fault = plan.fault;
  if (fault == "refused") return {.kind = Kind::kAway, .pause = absl::Seconds(plan.times)};
  if (fault == "lost") return {.kind = Kind::kClose};
  if (fault == "cut") return {.kind = Kind::kCut};
  if (fault == "silent") return {.kind = Kind::kSilent};
  if (fault == "late") return {.pause = kHalfOfTimeout};
  if (fault == "tardy") return {.pause = kOverTimeout};
  if (fault == "twice") return {.kind = Kind::kTwice};
  if (fault == "page") {
    return Instead({.code = 200, .content_type = "text/html", .body = "<html>Welcome</html>"});
  }
  if (fault == "empty") return Empty(right);
  if (fault == "uid") return WithField(right, "uid", "another-question");
  if (fault == "rejected") return Rejected(right);
  if (fault == "patch") return BadPatch(right);
  int code = 500;
  static_cast<void>(absl::SimpleAtoi(fault, &code));
  return Code(code);
}

}  // namespace

bool IsHookFault(absl::string_view name) {
  static constexpr absl::string_view kNames[] = {"refused", "lost",  "cut",      "silent",
                                                 "late",    "tardy", "twice",    "page",
                                                 "empty",   "uid",   "rejected", "patch"};
  int code = 0;
  return std::find(std::begin(kNames), std::end(kNames), name) != std::end(kNames) ||
         (absl::SimpleAtoi(name, &code) && code >= 400 && code < 600);
}

bool IsBorne(const Plan& plan) {
  return plan.fault == "late" || (plan.fault == "429" && plan.times == 1);
}

void HookFaults::BeginStep(int step) {
  absl::MutexLock lock(&mu_);
  step_ = step;
  met_ = left_ = 0;
}

bool HookFaults::Strikes(const std::string& operation) {
  const Plan& plan = run_->plan();
  if (plan.kind != Plan::Kind::kWebhook || run_->phase() != Perturbation::Phase::kWorkload) {
    return false;
  }
  if (left_ > 0) {
    --left_;
    return true;
  }
  if (operation != plan.request_class || ++met_ != plan.write) return false;
  left_ = plan.fault == "refused" ? 0 : plan.times - 1;
  run_->NoteStroke();
  return true;
}

HookVerdict HookFaults::OnCall(const HookCall& call, const base::HttpResponse& right) {
  if (call.address == kBesideAddress) return {};
  absl::MutexLock lock(&mu_);
  ++calls_[run_->phase()][call.operation];
  if (run_->phase() == Perturbation::Phase::kWorkload) {
    calls_of_step_[step_].push_back(call.operation);
  }
  return Strikes(call.operation) ? VerdictOf(run_->plan(), right) : HookVerdict();
}

bool HookFaults::IsUnderWay() const {
  absl::MutexLock lock(&mu_);
  return left_ > 0;
}

void HookFaults::End() {
  absl::MutexLock lock(&mu_);
  left_ = 0;
}

std::vector<std::string> HookFaults::CallsOfStep(int step) const {
  absl::MutexLock lock(&mu_);
  const auto found = calls_of_step_.find(step);
  return found == calls_of_step_.end() ? std::vector<std::string>() : found->second;
}

std::map<std::string, int> HookFaults::Calls(Perturbation::Phase phase) const {
  absl::MutexLock lock(&mu_);
  const auto found = calls_.find(phase);
  return found == calls_.end() ? std::map<std::string, int>() : found->second;
}

}  // namespace prove
