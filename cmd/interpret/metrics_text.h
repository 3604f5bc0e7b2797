// Reads Prometheus' text format, from a daemon's metrics endpoint.
#ifndef CMD_INTERPRET_METRICS_TEXT_H_
#define CMD_INTERPRET_METRICS_TEXT_H_

#include <map>
#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"

namespace cmd::interpret {

struct Sample {
  std::string name;  // "http_requests_total"
  std::map<std::string, std::string> labels;
  double value = 0;
};

// Returns the samples of a text; lines that are none are left out.
std::vector<Sample> ParseMetrics(absl::string_view text);

// Returns OK for "http[s]://host[:port][/path]", without user, query and fragment.
absl::Status CheckMetricsUrl(absl::string_view url);

// Reads the samples at that URL, whose path is /metrics if it has none. Takes at most ten seconds.
// Errors name the URL. REQUIRES: CheckMetricsUrl(url).ok().
absl::StatusOr<std::vector<Sample>> FetchMetrics(absl::string_view url);

}  // namespace cmd::interpret

#endif  // CMD_INTERPRET_METRICS_TEXT_H_
