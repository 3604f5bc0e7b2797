#include "config/duration.h"

#include "absl/strings/str_cat.h"
#include "absl/strings/str_replace.h"

namespace config {

absl::Status ParseGoDuration(const std::string& text, absl::Duration& out) {
  // Go accepts two characters for the micro sign, and no infinite durations.
  const std::string ascii = absl::StrReplaceAll(text, {{"\xc2\xb5s", "us"}, {"\xce\xbcs", "us"}});
  absl::Duration parsed;
  if (absl::ParseDuration(ascii, &parsed) && absl::AbsDuration(parsed) < absl::InfiniteDuration()) {
    out = parsed;
    return absl::OkStatus();
  }
  return absl::InvalidArgumentError(
      absl::StrCat("\"", text, "\" is not a duration (write 300ms, 10s, 1m40s, ...)"));
}

}  // namespace config
