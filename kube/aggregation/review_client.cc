// Start puts the review, already written, in a pool's queue together with its deadline. A thread
// of the pool sends it, again after a pause if the failure may pass, until there is an answer or
// the deadline has come; every attempt is given what is left of the time. A review whose deadline
// has passed in the queue is answered without having been sent, so that a control plane that hangs
// does not make the queue longer and longer.

#include "kube/aggregation/review_client.h"

#include <algorithm>
#include <utility>

#include "absl/strings/str_cat.h"
#include "base/random.h"

namespace kube::aggregation {
namespace {

// Much more than any review; a user may have many groups.
constexpr size_t kMaxAnswerBytes = 1 << 20;

// Reviews change nothing, so they may be repeated even if they have been received.
bool MayPass(const absl::StatusOr<HttpResponse>& answer) {
  if (!answer.ok()) return absl::IsUnavailable(answer.status());
  return answer->code == 429 || answer->code >= 500;
}

absl::Status Unanswered(const absl::StatusOr<HttpResponse>& answer) {
  if (!answer.ok()) return answer.status();
  const std::string message = absl::StrCat("the control plane answered ", answer->code);
  if (MayPass(answer)) return absl::UnavailableError(message);
  return absl::InternalError(message);
}

}  // namespace

ReviewClient::ReviewClient(Options options, std::shared_ptr<Transport> transport,
                           const base::Clock& clock, metrics::Registry* registry)
    : options_(std::move(options)),
      transport_(std::move(transport)),
      clock_(clock),
      registry_(registry),
      refusals_(registry, options_.refusal_cause,
                "As many reviews wait for the control plane as may."),
      known_("reviews", options_.threads, options_.max_waiting),
      strangers_("new-reviews", options_.stranger_threads, options_.max_waiting_strangers) {}

ReviewClient::~ReviewClient() { Stop(); }

void ReviewClient::Stop() {
  stop_.request_stop();
  known_.Stop();
  strangers_.Stop();
}

void ReviewClient::Start(const Question& question, Done done) {
  HttpRequest request{.method = "POST",
                      .path = question.path,
                      .content_type = "application/json",
                      .body = json::Write(question.review),
                      .user_agent = options_.user_agent,
                      .max_answer_bytes = kMaxAnswerBytes};
  const base::SteadyTime deadline = clock_.SteadyNow() + options_.timeout;
  WorkPool& pool = question.of_stranger ? strangers_ : known_;
  const bool taken = pool.Run(question.owner, [this, request = std::move(request), deadline, done] {
    if (stop_.stop_requested()) return;  // Until the pool stops, its threads take what waits.
    auto answer = Review(request, deadline);
    if (!stop_.stop_requested()) done(std::move(answer));
  });
  if (taken || stop_.stop_requested()) return;
  done(Refuse());
}

// Those who asked word it for their clients.
absl::Status ReviewClient::Refuse() const {
  return absl::ResourceExhaustedError(refusals_.Refuse().message());
}

absl::StatusOr<json::Value> ReviewClient::Review(const HttpRequest& request,
                                                 base::SteadyTime deadline) {
  const absl::StatusOr<HttpResponse> answer = Send(request, deadline);
  if (!answer.ok() || answer->code < 200 || answer->code >= 300) return Unanswered(answer);
  auto review = json::Parse(answer->body);
  if (!review.ok() || !review->is_object() || !(*review)["status"].is_object()) {
    return absl::InternalError("the answer to a review has no status");
  }
  return review;
}

absl::StatusOr<HttpResponse> ReviewClient::Send(HttpRequest request, base::SteadyTime deadline) {
  absl::StatusOr<HttpResponse> answer =
      absl::DeadlineExceededError("the control plane did not answer a review in time");
  absl::Duration pause = options_.first_pause;
  for (int attempt = 1;; ++attempt) {
    const base::SteadyTime begin = clock_.SteadyNow();
    if (begin >= deadline) return answer;
    request.timeout = deadline - begin;
    answer = transport_->Send(request, stop_.get_token());
    Count(answer.ok() ? absl::StrCat(answer->code) : "<error>", clock_.SteadyNow() - begin);
    if (!MayPass(answer) || attempt >= options_.attempts) return answer;
    const absl::Duration wait = base::Jitter(pause, options_.pause_jitter);
    if (clock_.SteadyNow() + wait >= deadline) return answer;
    if (!clock_.SleepFor(wait, stop_.get_token())) return absl::CancelledError("stopped");
    pause *= options_.pause_factor;
  }
}

void ReviewClient::Count(const std::string& code, absl::Duration took) {
  if (registry_ == nullptr || options_.metric_prefix.empty()) return;
  registry_
      ->GetCounter(absl::StrCat(options_.metric_prefix, "_request_total"),
                   "Number of HTTP requests partitioned by status code.", {{"code", code}})
      .Increment();
  registry_
      ->GetHistogram(absl::StrCat(options_.metric_prefix, "_request_duration_seconds"),
                     "Request latency in seconds. Broken down by status code.",
                     {0.25, 0.5, 0.7, 1, 1.5, 3, 5, 10}, {{"code", code}})
      .Observe(absl::ToDoubleSeconds(took));
}

}  // namespace kube::aggregation
