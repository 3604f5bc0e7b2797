// Bounds on text that others wrote.
#ifndef BASE_CUT_TEXT_H_
#define BASE_CUT_TEXT_H_

#include <cstddef>
#include <string>

#include "absl/strings/string_view.h"

namespace base {

// `text` when it has at most `max_bytes`, else its beginning, cut between characters of UTF-8, with
// " [cut]" behind it: at most `max_bytes` together. REQUIRES: max_bytes is 10 at least.
std::string CutText(absl::string_view text, size_t max_bytes);

}  // namespace base

#endif  // BASE_CUT_TEXT_H_
