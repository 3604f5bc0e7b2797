#include "config/duration.h"

#include "absl/strings/str_cat.h"
#include "base/go_syntax.h"

namespace config {

absl::Status ParseGoDuration(const std::string& text, absl::Duration& out) {
  const absl::StatusOr<absl::Duration> parsed = base::GoParseDuration(text);
  if (parsed.ok()) {
    out = *parsed;
    return absl::OkStatus();
  }
  return absl::InvalidArgumentError(
      absl::StrCat("\"", text, "\" is not a duration (write 300ms, 10s, 1m40s, ...)"));
}

}  // namespace config
