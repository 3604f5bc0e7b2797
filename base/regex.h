// Regular expressions in Go's grammar, as users write them in flags and schemas (RE2).
//
//   ASSIGN_OR_RETURN(const base::Regex name, base::Regex::Compile("^kube-.*$"));
//   if (name.Finds("kube-system")) ...
#ifndef BASE_REGEX_H_
#define BASE_REGEX_H_

#include <memory>

#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"

namespace re2 {
class RE2;
}

namespace base {

// A compiled expression; cheap to copy, safe to use from any thread. Matching takes time linear in
// the text for every expression.
class Regex {
 public:
  // kInvalidArgument describes the mistake in the pattern. Patterns and texts are UTF-8.
  static absl::StatusOr<Regex> Compile(absl::string_view pattern);

  // Returns whether some part of the text matches, like Go's MatchString. A pattern that must match
  // the whole text needs ^ and $.
  bool Finds(absl::string_view text) const;

 private:
  explicit Regex(std::shared_ptr<const re2::RE2> compiled);
  std::shared_ptr<const re2::RE2> compiled_;
};

}  // namespace base

#endif  // BASE_REGEX_H_
