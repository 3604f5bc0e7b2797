// What the webhook layer adds to an HTTPS round trip.
#ifndef TESTS_BENCH_INTERPRETER_WEBHOOK_ROUNDS_H_
#define TESTS_BENCH_INTERPRETER_WEBHOOK_ROUNDS_H_

#include <string>

#include "absl/status/statusor.h"
#include "absl/time/time.h"

namespace bench {

// The time of one round trip in ns: what half of the rounds stayed below, and nine tenths of them.
struct Rounds {
  double median_ns = 0;
  double p90_ns = 0;
};
struct WebhookCost {
  Rounds raw;    // A request and its answer, read but not understood.
  Rounds layer;  // InterpretHealth through the chain, which sends the same request.
  size_t request_bytes = 0;
};
// Starts the example server (examples/webhook) in this process and asks it over TLS, both ways by
// turns and on the same connection, for `length`.
absl::StatusOr<WebhookCost> MeasureWebhook(const std::string& objects, absl::Duration length);

}  // namespace bench

#endif  // TESTS_BENCH_INTERPRETER_WEBHOOK_ROUNDS_H_
