// The end of a service without a broken answer.
#ifndef KUBE_AGGREGATION_SERVICE_END_H_
#define KUBE_AGGREGATION_SERVICE_END_H_

#include "absl/time/time.h"
#include "base/clock.h"
#include "base/http_server.h"
#include "base/stop_token.h"
#include "kube/aggregation/handler_chain.h"
#include "kube/aggregation/health.h"

namespace kube::aggregation {

struct ServiceEnd {
  HealthEndpoints& health;
  HandlerChain& chain;
  base::HttpServer& server;
  // How long the service goes on while it is not ready any more, so that nobody sends requests to
  // it by the time it ends: --shutdown-delay-duration.
  absl::Duration delay = absl::ZeroDuration();
  // How long requests and streams may take to end after that. The longest that a bounded request
  // may take is the server's deadline.
  absl::Duration patience = absl::Seconds(60);
};

// Makes readiness fail, waits for the delay, sends new requests away, asks long-running ones to
// end, and waits for all of them; then stops the server. A stop shortens the waits. Returns whether
// every answer was finished. REQUIRES: is not called on a thread of the server.
bool EndService(const ServiceEnd& end, const base::Clock& clock, const base::StopToken& hurry);

}  // namespace kube::aggregation

#endif  // KUBE_AGGREGATION_SERVICE_END_H_
