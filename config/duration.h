// Parses durations as Go's programs do.
#ifndef CONFIG_DURATION_H_
#define CONFIG_DURATION_H_

#include <string>

#include "absl/status/status.h"
#include "absl/time/time.h"

namespace config {

// Parses "1h0m5s", "10s" or "0". kInvalidArgument quotes the text; `out` is unchanged then.
absl::Status ParseGoDuration(const std::string& text, absl::Duration& out);

}  // namespace config

#endif  // CONFIG_DURATION_H_
