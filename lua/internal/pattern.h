// Lua 5.1's patterns, with a count of the work.
//
//   Steps steps;
//   PatternMatcher matcher(subject, "(%w+)=(%w+)", steps);
//   if (matcher.MatchAt(0) == PatternMatcher::Result::kMatch) ... matcher.capture(0) ...
//
// A pattern may take time exponential in its length and polynomial in the subject's; C code that
// matches cannot be interrupted, so the matcher asks Steps, every few thousand comparisons, whether
// to go on. The results are those of LuaJIT's own matcher (tests/lua/pattern_test.cc compares
// them).
#ifndef LUA_INTERNAL_PATTERN_H_
#define LUA_INTERNAL_PATTERN_H_

#include <array>
#include <cstddef>

#include "absl/strings/string_view.h"

namespace lua {

// Decides whether matching may go on.
class Steps {
 public:
  virtual ~Steps() = default;
  // Is called after `count` more comparisons; returning false ends the search.
  virtual bool Made(size_t count) = 0;
};

// One subject and pattern. Not thread-safe. Both texts must outlive it.
class PatternMatcher {
 public:
  static constexpr int kMaxCaptures = 32;
  enum class Result { kMatch, kNoMatch, kMalformed, kStopped };
  struct Capture {
    absl::string_view text;  // For a position: empty, but it points into the subject.
    bool is_position = false;
    bool is_unfinished = false;  // It has no ')'.
  };

  // `pattern` without the anchor ^; it ends at its first zero byte, as in Lua 5.1.
  PatternMatcher(absl::string_view subject, absl::string_view pattern, Steps& steps);

  // Matches only at that offset. REQUIRES: begin <= subject.size().
  Result MatchAt(size_t begin);
  // Finds the first match that starts at `begin` or later.
  Result Search(size_t begin);

  // Offsets of the last match.
  size_t begin() const { return static_cast<size_t>(match_ - subject_); }
  size_t end() const { return static_cast<size_t>(match_end_ - subject_); }
  int capture_count() const { return level_; }
  // REQUIRES: index < capture_count().
  Capture capture(int index) const;
  // Returns the position, counted from 1, of a position capture.
  size_t position(int index) const {
    return static_cast<size_t>(captures_[static_cast<size_t>(index)].begin - subject_) + 1;
  }

  // Lua's message about a malformed pattern.
  const char* error() const { return error_; }

 private:
  static constexpr ptrdiff_t kUnclosed = -1;
  static constexpr ptrdiff_t kPosition = -2;
  static constexpr size_t kStepsAtOnce = 4096;
  // How deep calls of Match may nest; LuaJIT's limit.
  static constexpr int kMaxDepth = 200;
  struct Open {
    const char* begin;
    ptrdiff_t size;
  };

  // All functions take a place in the subject and one in the pattern. nullptr means no match, or
  // failed_.
  const char* Match(const char* s, const char* p);
  const char* MatchItems(const char* s, const char* p);
  const char* MatchDefault(const char*& s, const char*& p, bool& done);
  const char* MatchEscape(const char*& s, const char*& p, bool& done);
  const char* MatchBalance(const char* s, const char* p);
  const char* MatchBackReference(const char* s, int digit);
  const char* Frontier(const char* s, const char*& p);
  const char* StartCapture(const char* s, const char* p, ptrdiff_t what);
  const char* EndCapture(const char* s, const char* p);
  const char* MaxExpand(const char* s, const char* p, const char* rest);
  const char* MinExpand(const char* s, const char* p, const char* rest);
  const char* EndOfClass(const char* p);
  bool MatchesSingle(const char* s, const char* p, const char* end_of_class);
  const char* Fail(const char* message);
  bool Step();
  char At(const char* p) const { return p < pattern_end_ ? *p : '\0'; }

  const char* subject_;
  const char* subject_end_;
  const char* pattern_;
  const char* pattern_end_;
  Steps& steps_;
  size_t pending_ = 0;  // Steps that have not been charged yet.
  int depth_ = 0;
  bool failed_ = false;  // The pattern is malformed (error_), or Steps ended the search.
  const char* error_ = nullptr;
  const char* match_ = nullptr;
  const char* match_end_ = nullptr;
  int level_ = 0;
  std::array<Open, kMaxCaptures> captures_;
};

// Returns whether the text has special characters of patterns.
bool HasPatternSpecials(absl::string_view text);

}  // namespace lua

#endif  // LUA_INTERNAL_PATTERN_H_
