#include "interpreter/customized/line_diff.h"

#include <algorithm>
#include <cstddef>
#include <vector>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_split.h"
#include "absl/strings/strip.h"

namespace interpreter::customized {

namespace {

using Lines = std::vector<absl::string_view>;

constexpr size_t kContext = 3;
// The table below has as many cells as the product of both line counts; for larger texts all lines
// count as different.
constexpr size_t kMostCells = 4'000'000;

Lines LinesOf(absl::string_view text) {
  absl::ConsumeSuffix(&text, "\n");
  if (text.empty()) return {};
  return absl::StrSplit(text, '\n');
}

// length[i][j] is the length of the longest common subsequence of want[i...] and got[j...].
class SubsequenceTable {
 public:
  SubsequenceTable(const Lines& want, const Lines& got)
      : columns_(got.size() + 1), cells_((want.size() + 1) * columns_) {
    for (size_t i = want.size(); i-- > 0;) {
      for (size_t j = got.size(); j-- > 0;) {
        cells_[i * columns_ + j] =
            want[i] == got[j] ? At(i + 1, j + 1) + 1 : std::max(At(i + 1, j), At(i, j + 1));
      }
    }
  }
  int At(size_t i, size_t j) const { return cells_[i * columns_ + j]; }

 private:
  size_t columns_;
  std::vector<int> cells_;
};

struct Edit {
  char sign;
  absl::string_view line;
};

std::vector<Edit> EditsOf(const Lines& want, const Lines& got) {
  std::vector<Edit> edits;
  size_t i = 0, j = 0;
  if (want.size() * got.size() <= kMostCells) {
    const SubsequenceTable common(want, got);
    while (i < want.size() && j < got.size()) {
      if (want[i] == got[j]) {
        edits.push_back({' ', want[i]});
        ++i, ++j;
      } else if (common.At(i + 1, j) >= common.At(i, j + 1)) {
        edits.push_back({'-', want[i++]});
      } else {
        edits.push_back({'+', got[j++]});
      }
    }
  }
  while (i < want.size()) edits.push_back({'-', want[i++]});
  while (j < got.size()) edits.push_back({'+', got[j++]});
  return edits;
}

// Returns whether a changed line is within kContext lines of this one.
bool IsNearChange(const std::vector<Edit>& edits, size_t at) {
  const size_t from = at < kContext ? 0 : at - kContext;
  const size_t to = std::min(edits.size(), at + kContext + 1);
  return std::any_of(edits.begin() + from, edits.begin() + to,
                     [](const Edit& edit) { return edit.sign != ' '; });
}

}  // namespace

std::string LineDiff(absl::string_view want, absl::string_view got) {
  if (want == got) return "";
  const std::vector<Edit> edits = EditsOf(LinesOf(want), LinesOf(got));
  std::string out;
  bool skipping = false;
  for (size_t i = 0; i < edits.size(); ++i) {
    if (!IsNearChange(edits, i)) {
      if (!skipping) absl::StrAppend(&out, " ...\n");
      skipping = true;
      continue;
    }
    skipping = false;
    absl::StrAppend(&out, std::string(1, edits[i].sign), edits[i].line, "\n");
  }
  return out;
}

}  // namespace interpreter::customized
