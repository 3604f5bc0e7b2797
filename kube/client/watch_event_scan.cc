// Finding the resourceVersion of a watch event in its text.
//
// A scan looks at every byte once and remembers how deep it is: strings are jumped over, brackets
// counted. It knows names that stand two levels above a value apart from the same words elsewhere,
// which searching for `"resourceVersion":` would not: annotations may hold whole objects.
#include <cstddef>
#include <cstring>

#include "absl/strings/match.h"
#include "absl/strings/string_view.h"
#include "absl/strings/strip.h"
#include "kube/client/internal/watch_decoder.h"

namespace kube {
namespace {

// Cuts {"type":T,"object":O} or {"object":O,"type":T}, as servers write it, down to what follows
// the opening bracket of O. False for anything else.
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

  // The string that is the member `name` of the member `parent` of the object whose inside the text
  // begins with.
  absl::string_view Find(absl::string_view parent, absl::string_view name) {
    if (!FindMember(parent) || Next() != '{' || !FindMember(name) || Next() != '"') return "";
    const size_t begin = at_;
    const absl::string_view value = TakeString();
    return at_ == begin + value.size() + 1 ? value : "";
  }

 private:
  char Next() { return at_ < text_.size() ? text_[at_++] : '\0'; }

  // Goes on to the value of that member of the object it is inside of. False at the object's end.
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

  // Goes behind the end of the string whose first quotation mark has been passed; its text as it
  // stands there.
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
  // Returns whether the backslashes before `place` are odd in number.
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
