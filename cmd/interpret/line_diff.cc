// Myers' greedy algorithm ("An O(ND) Difference Algorithm and Its Variations", 1986).
#include "cmd/interpret/line_diff.h"

#include <algorithm>
#include <cstddef>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_split.h"
#include "absl/strings/strip.h"
#include "absl/types/span.h"

namespace cmd::interpret {
namespace {

using Lines = std::vector<absl::string_view>;
using Kind = LineChange::Kind;

// Beyond this many changes the rest is told as one replacement: 1000 need 4 MB of furthest points.
constexpr int kMaxChanges = 1000;

Lines LinesOf(absl::string_view text) {
  absl::ConsumeSuffix(&text, "\n");
  if (text.empty()) return {};
  return absl::StrSplit(text, '\n');
}

// How far each diagonal k = x - y was reached, for k from -d to d.
class Frontier {
 public:
  explicit Frontier(int d) : d_(d), furthest_(2 * d + 1, -1) {}
  int& operator[](int k) { return furthest_[k + d_]; }
  int At(int k) const { return k < -d_ || k > d_ ? -1 : furthest_[k + d_]; }

 private:
  int d_;
  std::vector<int> furthest_;
};

class Search {
 public:
  Search(absl::Span<const absl::string_view> a, absl::Span<const absl::string_view> b)
      : a_(a), b_(b) {}

  // In order.
  std::vector<LineChange> Run() {
    const int most = std::min<int>(static_cast<int>(a_.size() + b_.size()), kMaxChanges);
    for (int d = 0; d <= most; ++d) {
      frontiers_.emplace_back(d);
      if (Extend(d)) return WalkBack(d);
    }
    return Replacement();
  }

 private:
  // Whether the step from the frontier before to diagonal k goes down (adds a line of b).
  bool GoesDown(const Frontier& before, int d, int k) const {
    return k == -d || (k != d && before.At(k - 1) < before.At(k + 1));
  }

  // Fills the newest frontier; true when the end of both was reached.
  bool Extend(int d) {
    Frontier& now = frontiers_[d];
    for (int k = -d; k <= d; k += 2) {
      int x = 0;
      if (d > 0) {
        const Frontier& before = frontiers_[d - 1];
        x = GoesDown(before, d, k) ? before.At(k + 1) : before.At(k - 1) + 1;
      }
      int y = x - k;
      while (x < Size(a_) && y < Size(b_) && a_[x] == b_[y]) ++x, ++y;
      now[k] = x;  // May lie outside; what is there never comes back.
      if (x >= Size(a_) && y >= Size(b_)) return true;
    }
    return false;
  }

  std::vector<LineChange> WalkBack(int d) const {
    std::vector<LineChange> changes;
    int x = Size(a_), y = Size(b_);
    for (; d > 0; --d) {
      const int k = x - y;
      const bool down = GoesDown(frontiers_[d - 1], d, k);
      const int from_k = down ? k + 1 : k - 1;
      const int from_x = frontiers_[d - 1].At(from_k);
      const int after_x = down ? from_x : from_x + 1;  // Where the step ends and equal lines begin.
      for (; x > after_x; --y) changes.push_back({Kind::kSame, a_[--x]});
      changes.push_back(down ? LineChange{Kind::kAdded, b_[y - 1]}
                             : LineChange{Kind::kRemoved, a_[x - 1]});
      x = from_x;
      y = from_x - from_k;
    }
    while (x > 0) changes.push_back({Kind::kSame, a_[--x]});
    std::reverse(changes.begin(), changes.end());
    return changes;
  }

  std::vector<LineChange> Replacement() const {
    std::vector<LineChange> changes;
    for (const absl::string_view line : a_) changes.push_back({Kind::kRemoved, line});
    for (const absl::string_view line : b_) changes.push_back({Kind::kAdded, line});
    return changes;
  }

  static int Size(absl::Span<const absl::string_view> lines) {
    return static_cast<int>(lines.size());
  }

  absl::Span<const absl::string_view> a_, b_;
  std::vector<Frontier> frontiers_;
};

char MarkOf(Kind kind) {
  if (kind == Kind::kSame) return ' ';
  return kind == Kind::kRemoved ? '-' : '+';
}

// A run of changes with the lines around it.
struct Hunk {
  size_t begin, end;  // In the list of changes.
};

std::vector<Hunk> HunksOf(const std::vector<LineChange>& changes, size_t context) {
  std::vector<Hunk> hunks;
  for (size_t i = 0; i < changes.size(); ++i) {
    if (changes[i].kind == Kind::kSame) continue;
    const size_t begin = i > context ? i - context : 0;
    const size_t end = std::min(i + context + 1, changes.size());
    if (!hunks.empty() && begin <= hunks.back().end) {
      hunks.back().end = end;
    } else {
      hunks.push_back({begin, end});
    }
  }
  return hunks;
}

// "12,3": where lines begin and how many there are.
std::string Range(size_t before, size_t count) {
  const size_t start = count == 0 ? before : before + 1;
  return count == 1 ? absl::StrCat(start) : absl::StrCat(start, ",", count);
}

size_t CountOf(absl::Span<const LineChange> changes, Kind not_of) {
  return std::count_if(changes.begin(), changes.end(),
                       [&](const LineChange& change) { return change.kind != not_of; });
}

}  // namespace

std::vector<LineChange> DiffLines(absl::string_view before, absl::string_view after) {
  const Lines a = LinesOf(before), b = LinesOf(after);
  const size_t shorter = std::min(a.size(), b.size());
  size_t head = 0, tail = 0;
  while (head < shorter && a[head] == b[head]) ++head;
  while (tail < shorter - head && a[a.size() - 1 - tail] == b[b.size() - 1 - tail]) ++tail;

  std::vector<LineChange> changes;
  for (size_t i = 0; i < head; ++i) changes.push_back({Kind::kSame, a[i]});
  const auto middle = Search(absl::MakeSpan(a).subspan(head, a.size() - head - tail),
                             absl::MakeSpan(b).subspan(head, b.size() - head - tail))
                          .Run();
  changes.insert(changes.end(), middle.begin(), middle.end());
  for (size_t i = a.size() - tail; i < a.size(); ++i) changes.push_back({Kind::kSame, a[i]});
  return changes;
}

std::string UnifiedDiff(absl::string_view before, absl::string_view after,
                        const DiffOptions& options, const Colours& colours) {
  const std::vector<LineChange> changes = DiffLines(before, after);
  const absl::Span<const LineChange> all(changes);
  std::string out;
  for (const Hunk& hunk : HunksOf(changes, static_cast<size_t>(options.context))) {
    if (out.empty()) {
      absl::StrAppend(&out, colours.Bold(absl::StrCat("--- ", options.before_name)), "\n",
                      colours.Bold(absl::StrCat("+++ ", options.after_name)), "\n");
    }
    const auto leading = all.subspan(0, hunk.begin);
    const auto inside = all.subspan(hunk.begin, hunk.end - hunk.begin);
    const std::string header = absl::StrCat(
        "@@ -", Range(CountOf(leading, Kind::kAdded), CountOf(inside, Kind::kAdded)), " +",
        Range(CountOf(leading, Kind::kRemoved), CountOf(inside, Kind::kRemoved)), " @@");
    absl::StrAppend(&out, colours.Cyan(header), "\n");
    for (const LineChange& change : inside) {
      const std::string line = absl::StrCat(std::string(1, MarkOf(change.kind)), change.line);
      absl::StrAppend(&out,
                      change.kind == Kind::kSame      ? line
                      : change.kind == Kind::kRemoved ? colours.Red(line)
                                                      : colours.Green(line),
                      "\n");
    }
  }
  return out;
}

}  // namespace cmd::interpret
