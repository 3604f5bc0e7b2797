// The difference of two texts for people to read.
#ifndef INTERPRETER_CUSTOMIZED_LINE_DIFF_H_
#define INTERPRETER_CUSTOMIZED_LINE_DIFF_H_

#include <string>

#include "absl/strings/string_view.h"

namespace interpreter::customized {

// Lines only in `want` after "-", only in `got` after "+", others after " "; long runs of equal
// lines are cut to three at either end. "" when the texts are equal.
std::string LineDiff(absl::string_view want, absl::string_view got);

}  // namespace interpreter::customized

#endif  // INTERPRETER_CUSTOMIZED_LINE_DIFF_H_
