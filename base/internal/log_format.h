// Formats log messages. Private to base/.
#ifndef BASE_INTERNAL_LOG_FORMAT_H_
#define BASE_INTERNAL_LOG_FORMAT_H_

#include <string>
#include <utility>
#include <vector>

#include "absl/strings/string_view.h"
#include "absl/time/time.h"
#include "base/log.h"

namespace base::internal {

// Returns `message key=value ...`. Values are bare where that is unambiguous, otherwise in double
// quotes with C escapes, so that every message is one line.
std::string FormatText(absl::string_view message, const LogFields& fields);

struct JsonLine {
  absl::Time time;
  absl::string_view level;   // "info", "warning", "error".
  absl::string_view caller;  // "file.cc:12".
  absl::string_view message;
};
// Returns one JSON object as Kubernetes' components write it with --logging-format=json (ts in
// milliseconds since the epoch, caller, msg, then the fields), with the level added. Ends with a
// newline.
std::string FormatJson(const JsonLine& line, const LogFields& fields);

// Patterns (* and ?) of names and the verbosity that they set: "reflector=4,work*=2".
class VerbosityRules {
 public:
  VerbosityRules() = default;
  // Parts that are not pattern=number are ignored.
  explicit VerbosityRules(absl::string_view vmodule);
  // Returns the level of the first pattern that matches the file's base name without its extension,
  // or the name of the part of the program, if it has one; without such a pattern `otherwise`.
  int LevelFor(absl::string_view file, int otherwise, absl::string_view part = "") const;

 private:
  std::vector<std::pair<std::string, int>> rules_;
};

}  // namespace base::internal

#endif  // BASE_INTERNAL_LOG_FORMAT_H_
