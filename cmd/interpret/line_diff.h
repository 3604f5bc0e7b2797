// What has to change to make one text another, as `diff -u` tells it.
#ifndef CMD_INTERPRET_LINE_DIFF_H_
#define CMD_INTERPRET_LINE_DIFF_H_

#include <string>
#include <vector>

#include "absl/strings/string_view.h"
#include "cmd/interpret/console.h"

namespace cmd::interpret {

struct LineChange {
  enum class Kind { kSame, kRemoved, kAdded } kind = Kind::kSame;
  absl::string_view line;  // Of one of the texts, without its line end.
};
// A shortest sequence of changes; of texts that have next to nothing in common a longer one, so
// that time and memory stay bounded. The views live as long as the texts.
std::vector<LineChange> DiffLines(absl::string_view before, absl::string_view after);

struct DiffOptions {
  std::string before_name = "before";
  std::string after_name = "after";
  int context = 3;  // Unchanged lines shown around a change.
};
// In unified format, with headers; "" when the texts have the same lines.
std::string UnifiedDiff(absl::string_view before, absl::string_view after,
                        const DiffOptions& options, const Colours& colours);

}  // namespace cmd::interpret

#endif  // CMD_INTERPRET_LINE_DIFF_H_
