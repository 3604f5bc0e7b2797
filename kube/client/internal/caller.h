// Sends single requests to an API server, with pacing, counting and retries where they are safe.
#ifndef KUBE_CLIENT_INTERNAL_CALLER_H_
#define KUBE_CLIENT_INTERNAL_CALLER_H_

#include <map>
#include <memory>
#include <string>
#include <utility>

#include "absl/base/thread_annotations.h"
#include "absl/status/statusor.h"
#include "absl/synchronization/mutex.h"
#include "absl/time/time.h"
#include "base/byte_budget.h"
#include "base/clock.h"
#include "base/metrics.h"
#include "base/stop_token.h"
#include "kube/client/client.h"
#include "kube/client/internal/limiter.h"
#include "kube/http/transport.h"

namespace kube {

// Thread-safe.
class Caller {
 public:
  // What to do with an error code in an answer.
  enum class Answers {
    kErrors,  // Retried where that helps, else returned as an absl::Status.
    kRaw,     // Returned whatever its code, except 429.
    kOnce,    // Returned whatever its code, without a retry.
  };

  // `registry` may be null. REQUIRES: `clock` and `registry` outlive the caller.
  Caller(std::shared_ptr<Transport> transport, const ClientOptions& options,
         const base::Clock& clock, metrics::Registry* registry);

  // `what` ("get Deployment default/web") precedes every error's message. Until the deadline a
  // request is sent again if the server refused to process it (429, 503 with Retry-After, no
  // connection), and a read also after other 5xx answers and broken connections. The deadline is
  // the client's, or sooner if the request says so. Unless it is `paced`, it takes no token of the
  // fixed rate.
  absl::StatusOr<HttpResponse> Call(HttpRequest request, const std::string& what, Answers answers,
                                    const base::StopToken& stop, bool paced = true);

  // Increments rest_client_requests_total; for streams, which are not paced (as in client-go).
  void Count(const std::string& method, const std::string& code);
  const base::Clock& clock() const { return clock_; }
  Transport& transport() { return *transport_; }
  const ClientOptions& options() const { return options_; }
  // See ClientOptions::memory; never null.
  const std::shared_ptr<base::ByteBudget>& memory() const { return memory_; }

 private:
  // What to do after one attempt.
  struct Verdict {
    bool again = false;
    absl::Duration wait;
  };

  // What counts for all attempts of one call.
  struct Pace {
    ConcurrencyLimiter& concurrency;
    base::SteadyTime deadline;
    RequestPace* rate;  // Null without a fixed rate.
  };

  absl::StatusOr<HttpResponse> Attempt(HttpRequest& request, const Pace& pace,
                                       const base::StopToken& stop);
  ConcurrencyLimiter& LimiterOf(const HttpRequest& request, Answers answers);
  Verdict Judge(const HttpRequest& request, const absl::StatusOr<HttpResponse>& answer,
                Answers answers, int attempt) const;

  const std::shared_ptr<Transport> transport_;
  const ClientOptions options_;
  const std::shared_ptr<base::ByteBudget> memory_;
  const base::Clock& clock_;
  metrics::Registry* const registry_;
  ConcurrencyLimiter concurrency_;           // Of what the server answers itself.
  const std::unique_ptr<RequestPace> rate_;  // Null without a fixed rate.
  absl::Mutex mu_;
  std::map<std::pair<std::string, std::string>, metrics::Counter*> counters_ ABSL_GUARDED_BY(mu_);
  // Of what the server passes on, by API group.
  std::map<std::string, std::unique_ptr<ConcurrencyLimiter>> others_ ABSL_GUARDED_BY(mu_);
};

}  // namespace kube

#endif  // KUBE_CLIENT_INTERNAL_CALLER_H_
