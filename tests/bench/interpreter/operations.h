// The rows of the benchmark: every operation, and what one call of it costs.
#ifndef TESTS_BENCH_INTERPRETER_OPERATIONS_H_
#define TESTS_BENCH_INTERPRETER_OPERATIONS_H_

#include <atomic>
#include <cstdint>
#include <memory>
#include <string>

#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"
#include "absl/time/time.h"
#include "absl/types/span.h"
#include "base/json.h"
#include "base/metrics.h"
#include "interpreter/interpreter.h"
#include "interpreter/webhook/hook_set.h"
#include "interpreter/webhook/webhook_backend.h"
#include "tests/bench/interpreter/subject.h"

namespace bench {

struct InterpreterOptions {
  metrics::Registry* metrics = nullptr;  // Must outlive the interpreter.
  // Bytes that scripts allocate are added here; nullptr: nobody counts. Must outlive it as well.
  std::atomic<uint64_t>* script_bytes = nullptr;
  // How the webhook layer reaches its hooks, and which there are.
  interpreter::webhook::WebhookBackendOptions webhooks;
  std::shared_ptr<const interpreter::webhook::HookSet> hooks;  // nullptr: none.
};
// All four layers as the controller manager has them, without customizations of users.
std::unique_ptr<interpreter::Interpreter> NewInterpreter(InterpreterOptions options);

// An operation as the other side of the benchmark calls it.
struct BenchOperation {
  absl::string_view name;
  // Asks once. The answer is dropped here, so that its end is part of the cost.
  absl::Status (*run)(const interpreter::Interpreter& chain, const Subject& subject);
  // The answer in the words of upstream's types.
  absl::StatusOr<json::Value> (*answer)(const interpreter::Interpreter& chain,
                                        const Subject& subject);
};
absl::Span<const BenchOperation> Operations();

// What one call costs, as the mean of many.
struct Cost {
  double ns = 0;      // By the clock on the wall.
  double cpu_ns = 0;  // CPU time of this thread; less than `ns` when others use the machine.
};
// Runs for `length` after having warmed up.
absl::StatusOr<Cost> MeasureTime(const interpreter::Interpreter& chain, const BenchOperation& op,
                                 const Subject& subject, absl::Duration length);
// Bytes that one call allocates: from operator new, and in scripts' states. REQUIRES:
// `script_bytes` is what `chain` counts in, and nobody else uses it.
absl::StatusOr<int64_t> MeasureBytes(const interpreter::Interpreter& chain,
                                     const std::atomic<uint64_t>& script_bytes,
                                     const BenchOperation& op, const Subject& subject);
// Calls a second by as many threads as there are subjects, each with its own.
absl::StatusOr<double> MeasureWorkers(const interpreter::Interpreter& chain,
                                      const BenchOperation& op, absl::Span<const Subject> subjects,
                                      absl::Duration length);

}  // namespace bench

#endif  // TESTS_BENCH_INTERPRETER_OPERATIONS_H_
