// The rows of the benchmark: measures what one call of every operation costs.
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
  metrics::Registry* metrics = nullptr;  // REQUIRES: outlives the interpreter.
  // The bytes that scripts allocate are added here; nullptr: they are not counted. REQUIRES:
  // outlives the interpreter.
  std::atomic<uint64_t>* script_bytes = nullptr;
  // Determine how the webhook layer reaches its hooks, and which hooks there are.
  interpreter::webhook::WebhookBackendOptions webhooks;
  std::shared_ptr<const interpreter::webhook::HookSet> hooks;  // nullptr: no hooks.
};
// Returns an interpreter of all four layers, as in the controller manager, without customizations
// of users.
std::unique_ptr<interpreter::Interpreter> NewInterpreter(InterpreterOptions options);

// An operation, named as in upstream/main.go.
struct BenchOperation {
  absl::string_view name;
  // Calls the operation once. The answer is destroyed inside, so that this is part of the cost.
  absl::Status (*run)(const interpreter::Interpreter& chain, const Subject& subject);
  // Returns the answer in the format of upstream's types.
  absl::StatusOr<json::Value> (*answer)(const interpreter::Interpreter& chain,
                                        const Subject& subject);
};
absl::Span<const BenchOperation> Operations();

// The cost of one call, as the mean of many.
struct Cost {
  double ns = 0;      // Wall-clock time.
  double cpu_ns = 0;  // CPU time of this thread; less than `ns` when others use the machine.
};
// Measures for `length`, after a warm-up.
absl::StatusOr<Cost> MeasureTime(const interpreter::Interpreter& chain, const BenchOperation& op,
                                 const Subject& subject, absl::Duration length);
// Returns the bytes that one call allocates: from operator new, and in scripts' states. REQUIRES:
// `chain` counts in `script_bytes`, and nobody else does.
absl::StatusOr<int64_t> MeasureBytes(const interpreter::Interpreter& chain,
                                     const std::atomic<uint64_t>& script_bytes,
                                     const BenchOperation& op, const Subject& subject);
// Returns the calls a second by as many threads as there are subjects, each with its own.
absl::StatusOr<double> MeasureWorkers(const interpreter::Interpreter& chain,
                                      const BenchOperation& op, absl::Span<const Subject> subjects,
                                      absl::Duration length);

}  // namespace bench

#endif  // TESTS_BENCH_INTERPRETER_OPERATIONS_H_
