// A call is a loop of attempts within one deadline. An attempt waits for a token of the fixed rate,
// if there is one, then for a place under the concurrency limit, and sends; its outcome is reported
// back to the limiter and into the metric. Judge then determines whether there is another attempt,
// and after which pause. A Retry-After is obeyed for as long as the deadline allows; other failures
// are repeated five times at most, with a pause that doubles. A call that would wait beyond its
// deadline ends with the last answer instead. Neither a place nor a lock is held during a pause.
//
// Raw questions to an API group, such as those for metrics, may be answered by another server, to
// which the API server passes them on. That one may be slow, or not answer at all, while the API
// server has nothing to do. So the questions to each group have a limit of their own: otherwise
// they would hold all places, and their failures would lower the limit for all calls.

#include "kube/client/internal/caller.h"

#include <algorithm>
#include <cmath>
#include <vector>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_split.h"
#include "absl/strings/strip.h"
#include "base/random.h"
#include "base/status.h"
#include "kube/client/api_error.h"

namespace kube {
namespace {

// Pauses after failures without a Retry-After: 50 ms, 100 ms, ... 800 ms, each plus up to half of
// it. If a server is down for longer, the caller handles that with its own back-off.
constexpr int kMaxBackoffs = 5;
constexpr absl::Duration kFirstBackoff = absl::Milliseconds(50);
constexpr double kBackoffJitter = 0.5;
// The pause after a 429 without a Retry-After.
constexpr absl::Duration kDefaultRetryAfter = absl::Seconds(1);

// No answer is larger: the largest object that an API server stores is smaller, and a page of a
// list that is larger is requested again with fewer objects. Of hostile answers, several may be
// read at the same time.
constexpr size_t kMostAnswerBytes = 16 << 20;

// Returns the group in "/apis/GROUP/VERSION/...", "" for any other path.
std::string GroupAsked(absl::string_view path) {
  if (!absl::ConsumePrefix(&path, "/apis/")) return "";
  const std::vector<absl::string_view> parts = absl::StrSplit(path, absl::MaxSplits('/', 2));
  return parts.size() < 3 ? "" : std::string(parts[0]);
}

bool IsRead(const HttpRequest& request) { return request.method == "GET"; }

absl::Duration Backoff(int attempt) {
  return base::Jitter(kFirstBackoff * std::exp2(attempt), kBackoffJitter);
}

ConcurrencyLimiter::Outcome OutcomeOf(const absl::StatusOr<HttpResponse>& answer) {
  using Outcome = ConcurrencyLimiter::Outcome;
  if (!answer.ok()) {
    return absl::IsDeadlineExceeded(answer.status()) ? Outcome::kOverloaded : Outcome::kNeutral;
  }
  const bool overloaded = answer->code == 429 || answer->code == 503 || answer->code == 504;
  return overloaded ? Outcome::kOverloaded : Outcome::kGood;
}

// This is enough for the largest events of four watches at once.
constexpr int64_t kUnfinishedEvents = int64_t{64} << 20;

}  // namespace

Caller::Caller(std::shared_ptr<Transport> transport, const ClientOptions& options,
               const base::Clock& clock, metrics::Registry* registry)
    : transport_(std::move(transport)),
      options_(options),
      memory_(options.memory != nullptr ? options.memory
                                        : std::make_shared<base::ByteBudget>(kUnfinishedEvents)),
      clock_(clock),
      registry_(registry),
      concurrency_(clock),
      rate_(options.qps > 0 ? std::make_unique<RequestPace>(clock, options.qps, options.burst)
                            : nullptr) {}

void Caller::Count(const std::string& method, const std::string& code) {
  if (registry_ == nullptr) return;
  metrics::Counter* counter = nullptr;
  {
    absl::MutexLock lock(&mu_);
    metrics::Counter*& slot = counters_[{method, code}];
    if (slot == nullptr) {
      slot = &registry_->GetCounter(
          "rest_client_requests_total",
          "Number of HTTP requests, partitioned by status code, method, and host.",
          {{"code", code}, {"method", method}, {"host", options_.host}});
    }
    counter = slot;
  }
  counter->Increment();
}

// There are as many groups as this program asks for, which are some.
ConcurrencyLimiter& Caller::LimiterOf(const HttpRequest& request, Answers answers) {
  if (answers != Answers::kRaw) return concurrency_;
  const std::string group = GroupAsked(request.path);
  if (group.empty()) return concurrency_;
  absl::MutexLock lock(&mu_);
  std::unique_ptr<ConcurrencyLimiter>& limiter = others_[group];
  if (limiter == nullptr) limiter = std::make_unique<ConcurrencyLimiter>(clock_);
  return *limiter;
}

absl::StatusOr<HttpResponse> Caller::Attempt(HttpRequest& request, const Pace& pace,
                                             const base::StopToken& stop) {
  if (pace.rate != nullptr) RETURN_IF_ERROR(pace.rate->Take(pace.deadline, stop));
  RETURN_IF_ERROR(pace.concurrency.Acquire(pace.deadline, stop));
  const base::SteadyTime started = clock_.SteadyNow();
  request.timeout = std::max(pace.deadline - started, absl::Milliseconds(1));
  absl::StatusOr<HttpResponse> answer = transport_->Send(request, stop);
  pace.concurrency.Release(OutcomeOf(answer), started);
  // client-go's metric uses this name for requests without an answer.
  Count(request.method, answer.ok() ? absl::StrCat(answer->code) : "<error>");
  return answer;
}

Caller::Verdict Caller::Judge(const HttpRequest& request,
                              const absl::StatusOr<HttpResponse>& answer, Answers answers,
                              int attempt) const {
  if (answers == Answers::kOnce) return {};
  const Verdict back_off{attempt < kMaxBackoffs, Backoff(attempt)};
  if (!answer.ok()) {
    if (!absl::IsUnavailable(answer.status())) return {};
    return IsRead(request) || WasNotProcessed(answer.status()) ? back_off : Verdict{};
  }
  const int code = answer->code;
  const int retry_after = RetryAfterSeconds(*answer);
  if (code == 429) {
    return {true, retry_after > 0 ? absl::Seconds(retry_after) : kDefaultRetryAfter};
  }
  if (code < 500 || answers == Answers::kRaw) return {};
  if (code == 503 && retry_after > 0) return {true, absl::Seconds(retry_after)};
  return IsRead(request) ? back_off : Verdict{};
}

absl::StatusOr<HttpResponse> Caller::Call(HttpRequest request, const std::string& what,
                                          Answers answers, const base::StopToken& stop,
                                          bool paced) {
  const base::SteadyTime deadline =
      clock_.SteadyNow() + std::min(options_.timeout, request.timeout);
  const Pace pace = {LimiterOf(request, answers), deadline, paced ? rate_.get() : nullptr};
  request.user_agent = options_.user_agent;
  request.max_answer_bytes = std::min(request.max_answer_bytes, kMostAnswerBytes);
  for (int attempt = 0;; ++attempt) {
    absl::StatusOr<HttpResponse> answer = Attempt(request, pace, stop);
    const Verdict verdict = Judge(request, answer, answers, attempt);
    const bool again = verdict.again && clock_.SteadyNow() + verdict.wait < deadline;
    if (again && !clock_.SleepFor(verdict.wait, stop)) {
      return absl::CancelledError(absl::StrCat(what, ": stopped"));
    }
    if (again) continue;
    if (!answer.ok()) return base::Annotate(answer.status(), what);
    if (answers != Answers::kErrors || (answer->code >= 200 && answer->code < 300)) return answer;
    return ErrorOfResponse(*answer, what);
  }
}

}  // namespace kube
