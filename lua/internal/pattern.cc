// A backtracking matcher, a port of the one in Lua 5.1's lstrlib.c with the same structure:
// MatchItems goes along the pattern, and each item that can match in several ways tries the rest of
// the pattern by a recursive call for each of them. Two things are added: every comparison is
// counted, so that a match that takes too long ends (failed_ without error_), and nothing is read
// beyond the end of the pattern or the subject, whatever a script gives.
//
// The size of a capture that is no length is negative: kUnclosed or kPosition. The matcher owns no
// memory, so a Lua error may leave it anywhere.

#include "lua/internal/pattern.h"

#include <algorithm>
#include <cstdint>
#include <cstring>
#include <utility>

#include "absl/strings/ascii.h"

namespace lua {
namespace {

bool InClass(unsigned char c, char letter) {
  bool in = false;
  switch (absl::ascii_tolower(static_cast<unsigned char>(letter))) {
    case 'a':
      in = absl::ascii_isalpha(c);
      break;
    case 'c':
      in = absl::ascii_iscntrl(c);
      break;
    case 'd':
      in = absl::ascii_isdigit(c);
      break;
    case 'g':
      in = absl::ascii_isgraph(c);
      break;
    case 'l':
      in = absl::ascii_islower(c);
      break;
    case 'p':
      in = absl::ascii_ispunct(c);
      break;
    case 's':
      in = absl::ascii_isspace(c);
      break;
    case 'u':
      in = absl::ascii_isupper(c);
      break;
    case 'w':
      in = absl::ascii_isalnum(c);
      break;
    case 'x':
      in = absl::ascii_isxdigit(c);
      break;
    case 'z':
      in = c == 0;
      break;
    default:
      return static_cast<unsigned char>(letter) == c;
  }
  return absl::ascii_isupper(static_cast<unsigned char>(letter)) ? !in : in;
}

// `p` is at the '[' and `last` at the ']' that closes the set.
bool InSet(unsigned char c, const char* p, const char* last) {
  bool wanted = true;
  if (p[1] == '^') {
    wanted = false;
    ++p;
  }
  while (++p < last) {
    if (*p == '%') {
      ++p;
      if (InClass(c, *p)) return wanted;
    } else if (p[1] == '-' && p + 2 < last) {
      p += 2;
      if (static_cast<unsigned char>(p[-2]) <= c && c <= static_cast<unsigned char>(*p)) {
        return wanted;
      }
    } else if (static_cast<unsigned char>(*p) == c) {
      return wanted;
    }
  }
  return !wanted;
}

// A set may be as long as the pattern, so going through it counts as work.
size_t WorkOfSet(const char* begin, const char* end) {
  constexpr size_t kBytesPerStep = 8;
  return static_cast<size_t>(end - begin) / kBytesPerStep;
}

}  // namespace

bool HasPatternSpecials(absl::string_view text) {
  return text.find_first_of("^$*+?.([%-") != absl::string_view::npos;
}

PatternMatcher::PatternMatcher(absl::string_view subject, absl::string_view pattern, Steps& steps)
    : subject_(subject.data()),
      subject_end_(subject.data() + subject.size()),
      pattern_(pattern.data()),
      // A pattern ends at its first NUL, as in C; the subject may contain NULs.
      pattern_end_(pattern.data() + std::min(pattern.size(), pattern.find('\0'))),
      steps_(steps) {}

PatternMatcher::Result PatternMatcher::MatchAt(size_t begin) {
  level_ = 0;
  depth_ = 0;
  const char* end = Match(subject_ + begin, pattern_);
  if (failed_) return error_ != nullptr ? Result::kMalformed : Result::kStopped;
  if (end == nullptr) return Result::kNoMatch;
  match_ = subject_ + begin;
  match_end_ = end;
  return Result::kMatch;
}

PatternMatcher::Result PatternMatcher::Search(size_t begin) {
  const auto size = static_cast<size_t>(subject_end_ - subject_);
  Result result = Result::kNoMatch;
  while (begin <= size && result == Result::kNoMatch) result = MatchAt(begin++);
  return result;
}

PatternMatcher::Capture PatternMatcher::capture(int index) const {
  const Open& open = captures_[static_cast<size_t>(index)];
  if (open.size == kPosition) return {{open.begin, 0}, true, false};
  if (open.size == kUnclosed) return {{open.begin, 0}, false, true};
  return {{open.begin, static_cast<size_t>(open.size)}, false, false};
}

const char* PatternMatcher::Fail(const char* message) {
  failed_ = true;
  error_ = message;
  return nullptr;
}

bool PatternMatcher::Step() {
  if (++pending_ < kStepsAtOnce) return true;
  if (steps_.Made(std::exchange(pending_, 0))) return true;
  failed_ = true;
  return false;
}

// The depth bounds the C stack: a script cannot make it overflow with a long pattern.
const char* PatternMatcher::Match(const char* s, const char* p) {
  if (++depth_ > kMaxDepth) return Fail("pattern too complex");
  const char* end = MatchItems(s, p);
  --depth_;
  return end;
}

// Matches items one after another; an item that can match in several ways calls Match for the rest.
const char* PatternMatcher::MatchItems(const char* s, const char* p) {
  bool done = false;
  while (!done) {
    // failed_ has to end all levels of the recursion, not only the innermost.
    if (failed_ || !Step()) return nullptr;
    if (p == pattern_end_) return s;
    const char* end = nullptr;
    switch (*p) {
      case '(':
        return At(p + 1) == ')' ? StartCapture(s, p + 2, kPosition)
                                : StartCapture(s, p + 1, kUnclosed);
      case ')':
        return EndCapture(s, p + 1);
      case '$':
        if (p + 1 == pattern_end_) return s == subject_end_ ? s : nullptr;
        end = MatchDefault(s, p, done);
        break;
      case '%':
        end = MatchEscape(s, p, done);
        break;
      default:
        end = MatchDefault(s, p, done);
        break;
    }
    if (done) return end;
  }
  return nullptr;
}

// Matches one character class with its repetition. Unless `done`, moves on to the next item.
const char* PatternMatcher::MatchDefault(const char*& s, const char*& p, bool& done) {
  const char* rest = EndOfClass(p);
  done = true;
  if (rest == nullptr) return nullptr;
  switch (At(rest)) {
    case '?': {
      if (MatchesSingle(s, p, rest)) {
        const char* end = Match(s + 1, rest + 1);
        if (end != nullptr || failed_) return end;
      }
      p = rest + 1;
      done = false;
      return nullptr;
    }
    case '*':
      return MaxExpand(s, p, rest);
    case '+':
      return MatchesSingle(s, p, rest) ? MaxExpand(s + 1, p, rest) : nullptr;
    case '-':
      return MinExpand(s, p, rest);
    default:
      if (!MatchesSingle(s, p, rest)) return nullptr;
      ++s;
      p = rest;
      done = false;
      return nullptr;
  }
}

const char* PatternMatcher::MatchEscape(const char*& s, const char*& p, bool& done) {
  const char c = At(p + 1);
  if (c == 'b') {
    s = MatchBalance(s, p + 2);
    p += 4;
  } else if (c == 'f') {
    p += 2;
    s = Frontier(s, p);
  } else if (absl::ascii_isdigit(static_cast<unsigned char>(c))) {
    s = MatchBackReference(s, c);
    p += 2;
  } else {
    return MatchDefault(s, p, done);
  }
  done = s == nullptr;
  return nullptr;
}

const char* PatternMatcher::EndOfClass(const char* p) {
  const char* const begin = p;
  const char c = *p++;
  if (c == '%') {
    if (p == pattern_end_) return Fail("malformed pattern (ends with '%')");
    return p + 1;
  }
  if (c != '[') return p;
  if (At(p) == '^') ++p;
  do {
    if (p == pattern_end_) return Fail("malformed pattern (missing ']')");
    if (*p++ == '%' && p < pattern_end_) ++p;
  } while (At(p) != ']');
  // A set is read byte by byte each time, so a long one costs more than a step.
  pending_ += WorkOfSet(begin, p);
  return p + 1;
}

bool PatternMatcher::MatchesSingle(const char* s, const char* p, const char* end_of_class) {
  if (s >= subject_end_) return false;
  const auto c = static_cast<unsigned char>(*s);
  switch (*p) {
    case '.':
      return true;
    case '%':
      return InClass(c, p[1]);
    case '[':
      pending_ += WorkOfSet(p, end_of_class);
      return InSet(c, p, end_of_class - 1);
    default:
      return static_cast<unsigned char>(*p) == c;
  }
}

const char* PatternMatcher::MatchBalance(const char* s, const char* p) {
  if (p + 1 >= pattern_end_) return Fail("unbalanced pattern");
  if (s >= subject_end_ || *s != *p) return nullptr;
  int open = 1;
  while (++s < subject_end_) {
    if (!Step()) return nullptr;
    if (*s == p[1]) {
      if (--open == 0) return s + 1;
    } else if (*s == *p) {
      ++open;
    }
  }
  return nullptr;
}

const char* PatternMatcher::Frontier(const char* s, const char*& p) {
  if (At(p) != '[') return Fail("missing '[' after '%f' in pattern");
  const char* rest = EndOfClass(p);
  if (rest == nullptr) return nullptr;
  pending_ += 2 * WorkOfSet(p, rest);
  const auto before = static_cast<unsigned char>(s == subject_ ? '\0' : s[-1]);
  const auto after = static_cast<unsigned char>(s < subject_end_ ? *s : '\0');
  // The ends of the subject count as zero bytes.
  const bool here = !InSet(before, p, rest - 1) && InSet(after, p, rest - 1);
  p = rest;
  return here ? s : nullptr;
}

const char* PatternMatcher::MatchBackReference(const char* s, int digit) {
  const int index = digit - '1';
  if (index < 0 || index >= level_ || captures_[static_cast<size_t>(index)].size == kUnclosed) {
    return Fail("invalid capture index");
  }
  const Open& capture = captures_[static_cast<size_t>(index)];
  const auto size = static_cast<size_t>(capture.size);
  pending_ += size < INT32_MAX ? size / 16 : 0;
  // A position capture has a size that no subject reaches, so it matches nothing.
  if (static_cast<size_t>(subject_end_ - s) < size) return nullptr;
  return std::memcmp(capture.begin, s, size) == 0 ? s + size : nullptr;
}

const char* PatternMatcher::StartCapture(const char* s, const char* p, ptrdiff_t what) {
  if (level_ >= kMaxCaptures) return Fail("too many captures");
  captures_[static_cast<size_t>(level_)] = {s, what};
  ++level_;
  const char* end = Match(s, p);
  // The rest did not match: another attempt has to find the captures as they were.
  if (end == nullptr) --level_;
  return end;
}

const char* PatternMatcher::EndCapture(const char* s, const char* p) {
  int index = level_ - 1;
  while (index >= 0 && captures_[static_cast<size_t>(index)].size != kUnclosed) --index;
  if (index < 0) return Fail("invalid pattern capture");
  Open& capture = captures_[static_cast<size_t>(index)];
  capture.size = s - capture.begin;
  const char* end = Match(s, p);
  if (end == nullptr) capture.size = kUnclosed;
  return end;
}

const char* PatternMatcher::MaxExpand(const char* s, const char* p, const char* rest) {
  ptrdiff_t count = 0;
  while (MatchesSingle(s + count, p, rest)) {
    ++count;
    if (!Step()) return nullptr;
  }
  for (; count >= 0; --count) {
    // The longest repetition is tried first, then shorter ones.
    const char* end = Match(s + count, rest + 1);
    if (end != nullptr || failed_) return end;
  }
  return nullptr;
}

const char* PatternMatcher::MinExpand(const char* s, const char* p, const char* rest) {
  while (true) {
    const char* end = Match(s, rest + 1);
    if (end != nullptr || failed_) return end;
    if (!MatchesSingle(s, p, rest) || !Step()) return nullptr;
    ++s;
  }
}

}  // namespace lua
