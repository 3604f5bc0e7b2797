// One pass over the text, by position, that decodes nothing but names with escapes. Values off the
// path are skipped by counting brackets, so that depth costs no stack; only the members of the path
// are visited recursively. The text was accepted by json::Parse before, which is why nothing is
// checked here.

#include "search/proxy/internal/json_places.h"

#include <algorithm>

#include "absl/strings/str_cat.h"

namespace search {
namespace {

constexpr char kEveryElement[] = "*";

// Walks through a valid document. The nesting of what it visits recursively is that of the path.
class Walk {
 public:
  Walk(absl::string_view text, std::vector<JsonPlace>& found) : text_(text), found_(found) {}

  // Visits the value at the current position and moves past it.
  void Value(json::Path path) {
    SkipSpace();
    if (path.empty()) {
      const size_t begin = at_;
      SkipValue();
      found_.push_back({begin, at_, 0, 0});
    } else if (Peek() == '{' && path[0] != kEveryElement) {
      Object(path);
    } else if (Peek() == '[' && path[0] == kEveryElement) {
      Array(path);
    } else {
      SkipValue();
    }
  }

 private:
  char Peek() const { return at_ < text_.size() ? text_[at_] : '\0'; }

  void SkipSpace() {
    while (at_ < text_.size() &&
           (text_[at_] == ' ' || text_[at_] == '\t' || text_[at_] == '\n' || text_[at_] == '\r')) {
      ++at_;
    }
  }

  // Returns the string with its quotes.
  absl::string_view TakeString() {
    const size_t begin = at_++;
    // A backslash takes the next character along, whatever it is; the digits of \uXXXX contain no
    // quote.
    while (at_ < text_.size() && text_[at_] != '"') at_ += text_[at_] == '\\' ? 2 : 1;
    ++at_;
    return text_.substr(begin, at_ - begin);
  }

  void SkipValue() {
    int depth = 0;
    do {
      SkipSpace();
      const char c = Peek();
      if (c == '\0') return;
      if (c == '"') {
        TakeString();
      } else if (c == '{' || c == '[') {
        ++depth, ++at_;
      } else if (c == '}' || c == ']') {
        --depth, ++at_;
      } else if (c == ',' || c == ':') {
        ++at_;
      } else {
        SkipWord();
      }
    } while (depth > 0);
  }

  // Skips a number, true, false or null.
  void SkipWord() { at_ = std::min(text_.find_first_of(",:]} \t\r\n", at_), text_.size()); }

  static bool IsNamed(absl::string_view quoted, absl::string_view name) {
    if (quoted.find('\\') == absl::string_view::npos) {
      return quoted.substr(1, quoted.size() - 2) == name;
    }
    const auto decoded = json::Parse(quoted);
    return decoded.ok() && decoded->AsString() == name;
  }

  // Returns whether another element follows; moves past the comma or the closing bracket.
  bool Continues() {
    SkipSpace();
    return at_ < text_.size() && text_[at_++] == ',';
  }

  void Object(json::Path path) {
    ++at_;
    SkipSpace();
    if (Peek() == '}') {
      ++at_;
      return;
    }
    bool more = true;
    for (bool first = true; more; first = false) {
      const size_t before = at_;  // After the brace or the comma that precedes this member.
      SkipSpace();
      const bool wanted = IsNamed(TakeString(), path[0]);
      SkipSpace();
      ++at_;  // The colon.
      const size_t found_before = found_.size();
      if (wanted) {
        Value(path.subspan(1));
      } else {
        // Value notes every value at the end of its path; this one is only skipped.
        Value({});
        found_.resize(found_before);
      }
      const size_t value_end = at_;
      more = Continues();
      if (!wanted || path.size() > 1) continue;
      JsonPlace& place = found_[found_before];
      // A member that is not the first one takes the comma before it along.
      place.cut_begin = first ? before : before - 1;
      place.cut_end = first && more ? at_ : value_end;
    }
  }

  void Array(json::Path path) {
    ++at_;
    SkipSpace();
    if (Peek() == ']') {
      ++at_;
      return;
    }
    do {
      Value(path.subspan(1));
    } while (Continues());
  }

  const absl::string_view text_;
  std::vector<JsonPlace>& found_;
  size_t at_ = 0;
};

}  // namespace

std::vector<JsonPlace> PlacesOf(absl::string_view text, json::Path path) {
  std::vector<JsonPlace> found;
  Walk(text, found).Value(path);
  return found;
}

std::string Edited(absl::string_view text, std::vector<TextEdit> edits) {
  std::sort(edits.begin(), edits.end(),
            [](const TextEdit& a, const TextEdit& b) { return a.begin < b.begin; });
  std::string out;
  size_t done = 0;
  for (const TextEdit& edit : edits) {
    absl::StrAppend(&out, text.substr(done, edit.begin - done), edit.bytes);
    done = edit.end;
  }
  absl::StrAppend(&out, text.substr(done));
  return out;
}

}  // namespace search
