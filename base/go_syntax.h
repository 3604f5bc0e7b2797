// Reads what Go programs read from users, with the same errors: users search for the messages that
// upstream has for the same text.
#ifndef BASE_GO_SYNTAX_H_
#define BASE_GO_SYNTAX_H_

#include <cstdint>
#include <string>

#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"
#include "absl/time/time.h"

namespace base {

// Returns the text in double quotes (Go's strconv.Quote, and %q): quotes, backslashes, what cannot
// be printed and bytes that are not UTF-8 are escaped.
std::string GoQuote(absl::string_view text);
// Reads a decimal integer with an optional sign (Go's strconv.Atoi). kInvalidArgument.
absl::StatusOr<int64_t> GoAtoi(absl::string_view text);
// Reads a duration such as "1h30m" or "-1.5s" (Go's time.ParseDuration): the units are ns, us (or
// µs), ms, s, m and h, and the limit is 292 years. kInvalidArgument.
absl::StatusOr<absl::Duration> GoParseDuration(absl::string_view text);

}  // namespace base

#endif  // BASE_GO_SYNTAX_H_
