// Finds the resourceVersion of a watch event in its text.
//
// A scan reads every byte once and counts the nesting: strings are skipped, brackets counted.
// Searching for `"resourceVersion":` would not suffice, because annotations may contain whole
// objects with that name.

#include <cstddef>
#include <cstring>

#include "absl/strings/match.h"
#include "absl/strings/string_view.h"
#include "absl/strings/strip.h"
#include "kube/client/internal/watch_decoder.h"

namespace kube {
namespace {

// Cuts {"type":T,"object":O} or {"object":O,"type":T}, as servers write it, down to the text after
// the opening bracket of O. Returns false for any other text.
bool CutToState(absl::string_view& line) {
  for (const absl::string_view begin :
       {R"({"type":"MODIFIED","object":{)", R"({"type":"ADDED","object":{)"}) {
    if (absl::ConsumePrefix(&line, begin)) return true;
  }
  return (absl::EndsWith(line, R"(,"type":"MODIFIED"})") ||
          absl::EndsWith(line, R"(,"type":"ADDED"})")) &&
         absl::ConsumePrefix(&line, R"({"object":{)");
}

class Scan {
 public:
  explicit Scan(absl::string_view text) : text_(text) {}

  // Returns the string in member `name` of member `parent` of the object in whose inside the text
  // begins.
  absl::string_view Find(absl::string_view parent, absl::string_view name) {
    if (!FindMember(parent) || Next() != '{' || !FindMember(name) || Next() != '"') return "";
    const size_t begin = at_;
    const absl::string_view value = TakeString();
    return at_ == begin + value.size() + 1 ? value : "";
  }

 private:
  char Next() { return at_ < text_.size() ? text_[at_++] : '\0'; }

  // Moves to the value of that member of the present object. Returns false at the object's end.
  bool FindMember(absl::string_view name) {
    for (size_t depth = 0; at_ < text_.size();) {
      switch (text_[at_++]) {
        case '"': {
          const absl::string_view found = TakeString();
          if (depth == 0 && at_ < text_.size() && text_[at_] == ':' && found == name) {
            ++at_;
            return true;
          }
          break;
        }
        case '{':
        case '[':
          ++depth;
          break;
        case '}':
        case ']':
          if (depth-- == 0) return false;
          break;
        default:
          break;
      }
    }
    return false;
  }

  // Moves behind the end of the string whose opening quotation mark has been passed; returns its
  // raw text.
  absl::string_view TakeString() {
    const size_t begin = at_;
    while (at_ < text_.size()) {
      const void* quote = std::memchr(text_.data() + at_, '"', text_.size() - at_);
      if (quote == nullptr) break;
      const auto end = static_cast<size_t>(static_cast<const char*>(quote) - text_.data());
      at_ = end + 1;
      if (!IsEscaped(begin, end)) return text_.substr(begin, end - begin);
    }
    at_ = text_.size();
    return "";
  }
  // Returns whether the number of backslashes before `place` is odd.
  bool IsEscaped(size_t begin, size_t place) const {
    size_t first = place;
    while (first > begin && text_[first - 1] == '\\') --first;
    return (place - first) % 2 != 0;
  }

  const absl::string_view text_;
  size_t at_ = 0;
};

}  // namespace

absl::string_view VersionOfStateEvent(absl::string_view line) {
  return CutToState(line) ? Scan(line).Find("metadata", "resourceVersion") : "";
}

}  // namespace kube
