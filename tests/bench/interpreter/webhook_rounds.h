// Measures what the webhook layer adds to an HTTPS round trip.
#ifndef TESTS_BENCH_INTERPRETER_WEBHOOK_ROUNDS_H_
#define TESTS_BENCH_INTERPRETER_WEBHOOK_ROUNDS_H_

#include <string>

#include "absl/status/statusor.h"
#include "absl/time/time.h"

namespace bench {

// The median and the 90th percentile of round trips, in ns.
struct Rounds {
  double median_ns = 0;
  double p90_ns = 0;
};
struct WebhookCost {
  Rounds raw;  // The same request, sent without the layer; its answer is read but not interpreted.
  Rounds layer;  // InterpretHealth through the chain.
  size_t request_bytes = 0;
};
// Starts the example server (examples/webhook) in this process and calls it over TLS on one
// connection, with and without the layer in turn, for `length`.
absl::StatusOr<WebhookCost> MeasureWebhook(const std::string& objects, absl::Duration length);

}  // namespace bench

#endif  // TESTS_BENCH_INTERPRETER_WEBHOOK_ROUNDS_H_
