// Runs an operation and measures its cost.
#ifndef CMD_INTERPRET_MEASUREMENT_H_
#define CMD_INTERPRET_MEASUREMENT_H_

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>

#include "absl/status/statusor.h"
#include "absl/time/time.h"
#include "base/json.h"
#include "cmd/interpret/layers.h"
#include "cmd/interpret/question_json.h"

namespace cmd::interpret {

struct Cost {
  absl::Duration time;
  size_t script_peak = 0;  // The most bytes that scripts held at once.
  uint64_t garbage = 0;    // The bytes that were allocated and freed, in scripts and around them.
};

struct Measured {
  // The answer of the last run, or the first error, which ends the series.
  absl::StatusOr<JsonAnswer> answer;
  Cost cost;                          // The sum over all runs.
  std::optional<HookCall> hook_call;  // The last call of a webhook; none when there was no call.
};
// Asks the question `times` times. REQUIRES: times > 0.
Measured Measure(Layers& layers, const interpreter::Question& question, int64_t times = 1);

// Return texts such as "0.031 ms" and "12.4 KiB".
std::string ShortTime(absl::Duration d);
std::string ShortSize(uint64_t bytes);

}  // namespace cmd::interpret

#endif  // CMD_INTERPRET_MEASUREMENT_H_
