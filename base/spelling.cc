#include "base/spelling.h"

#include <algorithm>
#include <cstddef>
#include <utility>

#include "absl/strings/ascii.h"
#include "absl/strings/str_cat.h"

namespace base {
namespace {

// Returns how many letters must change to turn one name into the other, in any case (Levenshtein).
size_t Distance(absl::string_view a, absl::string_view b) {
  std::vector<size_t> row(b.size() + 1);
  for (size_t j = 0; j < row.size(); ++j) row[j] = j;
  for (size_t i = 1; i <= a.size(); ++i) {
    size_t diagonal = std::exchange(row[0], i);
    for (size_t j = 1; j <= b.size(); ++j) {
      const bool same = absl::ascii_tolower(a[i - 1]) == absl::ascii_tolower(b[j - 1]);
      const size_t replaced = diagonal + (same ? 0 : 1);
      diagonal = row[j];
      row[j] = std::min({replaced, row[j] + 1, row[j - 1] + 1});
    }
  }
  return row.back();
}

}  // namespace

std::optional<size_t> NearestName(absl::string_view name,
                                  const std::vector<std::string>& candidates) {
  std::optional<size_t> nearest;
  size_t best = name.size() / 3 + 2;  // From this distance on it is another name.
  for (size_t i = 0; i < candidates.size(); ++i) {
    // At least the letters that one of them has more must change. A name may be a megabyte long.
    const auto [shorter, longer] = std::minmax({candidates[i].size(), name.size()});
    if (longer - shorter >= best) continue;
    const size_t distance = Distance(candidates[i], name);
    if (distance < best) best = distance, nearest = i;
  }
  return nearest;
}

std::string DidYouMean(absl::string_view name, const std::vector<std::string>& candidates) {
  const std::optional<size_t> meant = NearestName(name, candidates);
  return meant.has_value() ? absl::StrCat("; did you mean ", candidates[*meant], "?") : "";
}

}  // namespace base
