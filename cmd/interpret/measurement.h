// An operation with what it cost.
#ifndef CMD_INTERPRET_MEASUREMENT_H_
#define CMD_INTERPRET_MEASUREMENT_H_

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>

#include "absl/status/statusor.h"
#include "absl/time/time.h"
#include "base/json.h"
#include "cmd/interpret/invocation.h"
#include "cmd/interpret/layers.h"

namespace cmd::interpret {

struct Cost {
  absl::Duration time;
  size_t script_peak = 0;  // Bytes that scripts held at their most.
  uint64_t garbage = 0;    // Bytes allocated and dropped: in scripts and around them.
};

struct Measured {
  absl::StatusOr<json::Value> result;  // The last time's, or the first error, which ends it.
  Cost cost;                           // What all times together took.
  std::optional<HookCall> hook_call;   // The last one; none when no webhook was called.
};
// REQUIRES: times > 0.
Measured Measure(Layers& layers, const Invocation& invocation, int64_t times = 1);

// "0.031 ms", "12.4 KiB".
std::string ShortTime(absl::Duration d);
std::string ShortSize(uint64_t bytes);

}  // namespace cmd::interpret

#endif  // CMD_INTERPRET_MEASUREMENT_H_
