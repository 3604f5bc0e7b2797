// Sends TokenReviews and SubjectAccessReviews to the control plane.
//
// A review is a request over the network, and a thread waits for it: one of a small pool, so that
// reviews that hang hold up neither the network thread nor handlers. Those that a stranger has
// caused have a pool of their own. Requests that wait for a review hold no thread.
#ifndef KUBE_AGGREGATION_REVIEW_CLIENT_H_
#define KUBE_AGGREGATION_REVIEW_CLIENT_H_

#include <functional>
#include <memory>
#include <string>

#include "absl/status/statusor.h"
#include "absl/time/time.h"
#include "base/clock.h"
#include "base/json.h"
#include "base/metrics.h"
#include "base/stop_token.h"
#include "kube/aggregation/refusals.h"
#include "kube/aggregation/work_pool.h"
#include "kube/http/transport.h"

namespace kube::aggregation {

// Thread-safe.
class ReviewClient {
 public:
  struct Options {
    // From the call of Start to the answer, with waiting for a thread and all retries.
    absl::Duration timeout = absl::Seconds(10);
    // Retries of reviews that failed for a passing reason: no connection, 429, 5xx. As upstream's
    // DefaultAuthWebhookRetryBackoff.
    int attempts = 5;
    absl::Duration first_pause = absl::Milliseconds(500);
    double pause_factor = 1.5;
    double pause_jitter = 0.2;
    int threads = 16;
    // Reviews that wait for a thread; further ones are refused.
    size_t max_waiting = 1000;
    // The same for those of strangers, which have threads and places of their own.
    int stranger_threads = 8;
    size_t max_waiting_strangers = 500;
    std::string user_agent;
    // Begins the names of the metrics, as "apiserver_delegated_authn"; "" counts nothing.
    std::string metric_prefix;
    // The cause in the count of refusals.
    std::string refusal_cause = "reviews";
  };
  // Gets the object in the answer, with its status. kDeadlineExceeded, kUnavailable: there was no
  // answer; kResourceExhausted: too many reviews wait; kCancelled; kInternal: an answer that makes
  // no sense. Neither names nor contents of the review are in the message.
  using Done = std::function<void(absl::StatusOr<json::Value>)>;

  // `registry` may be null. REQUIRES: `clock` and `registry` outlive the client.
  ReviewClient(Options options, std::shared_ptr<Transport> transport, const base::Clock& clock,
               metrics::Registry* registry);
  ~ReviewClient();  // Calls Stop.
  ReviewClient(const ReviewClient&) = delete;

  struct Question {
    std::string path;  // It is posted there.
    json::Value review;
    // Whose share of the queue it takes, or base::kNoOwner.
    std::string owner;
    // Nobody knows who has caused it, so that it takes nothing from those who are known.
    bool of_stranger = false;
  };
  // `done` is called once, on one of the pools' threads or on this one. After Stop it is not
  // called.
  void Start(const Question& question, Done done);
  // Counts a review that was not begun because too many wait, and returns the error that Start
  // gives for one: for callers with a bound of their own on what waits. Thread-safe.
  absl::Status Refuse() const;
  // Cancels what is under way and waits for the threads. Waiting callers are dropped.
  void Stop();

 private:
  absl::StatusOr<json::Value> Review(const HttpRequest& request, base::SteadyTime deadline);
  absl::StatusOr<HttpResponse> Send(HttpRequest request, base::SteadyTime deadline);
  void Count(const std::string& code, absl::Duration took);

  const Options options_;
  const std::shared_ptr<Transport> transport_;
  const base::Clock& clock_;
  metrics::Registry* const registry_;
  const Refusals refusals_;
  base::StopSource stop_;
  WorkPool known_, strangers_;  // Last, because their threads use the rest.
};

}  // namespace kube::aggregation

#endif  // KUBE_AGGREGATION_REVIEW_CLIENT_H_
