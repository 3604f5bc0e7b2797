#include "lens/plan/what_if.h"

#include "absl/strings/str_cat.h"

namespace lens::plan {

absl::string_view NameOf(Verdict verdict) {
  switch (verdict) {
    case Verdict::kMoves:
      return "moves";
    case Verdict::kSpreads:
      return "spreads";
    case Verdict::kShrinks:
      return "shrinks";
    case Verdict::kNoRoom:
      return "no-room";
    case Verdict::kPinned:
      return "pinned";
    case Verdict::kQuota:
      return "quota";
    case Verdict::kNowhere:
      return "nowhere";
    case Verdict::kStays:
      return "stays";
    case Verdict::kNotSimulated:
      return "not-simulated";
    case Verdict::kUnchanged:
      break;
  }
  return "unchanged";
}

std::string Leaving::ToString() const {
  const std::string until = absl::FormatDuration(at_most);
  std::string text = absl::StrCat("leaves ", cluster);
  if (how == How::kFollows) {
    absl::StrAppend(&text, " with ", with);
    if (is_lost) absl::StrAppend(&text, ", when ", cluster, " answers again");
    if (is_abandoned) absl::StrAppend(&text, ": its copy there runs on, and belongs to nobody");
    return text;
  }
  if (is_abandoned) return text + " at once: its copy there runs on, and belongs to nobody";
  if (how == How::kAtOnce) {
    absl::StrAppend(&text, " at once: its copy there does not wait until others are healthy");
    if (is_lost) absl::StrAppend(&text, ", but until ", cluster, " answers again");
    return text;
  }
  absl::StrAppend(&text, after > absl::ZeroDuration()
                             ? absl::StrCat(" after ", absl::FormatDuration(after))
                             : " at once");
  if (how == How::kGradually) {
    absl::StrAppend(&text,
                    " (evicted gracefully): both copies are wanted until the others are "
                    "healthy, ",
                    until, " at most");
    if (is_lost) {
      absl::StrAppend(&text, "; the one in ", cluster, " goes only when it answers again");
    }
    return text;
  }
  absl::StrAppend(&text, " (evicted directly): nothing starts before its copy there is gone");
  if (is_lost) {
    absl::StrAppend(&text, ", which is when ", cluster, " answers again, or after ", until);
  }
  return text;
}

}  // namespace lens::plan
