// Limits the length of text from outside.
#ifndef BASE_CUT_TEXT_H_
#define BASE_CUT_TEXT_H_

#include <cstddef>
#include <string>

#include "absl/strings/string_view.h"

namespace base {

// Returns `text` if it has at most `max_bytes`, else its beginning, cut between UTF-8 characters,
// and " [cut]", together at most `max_bytes`. REQUIRES: max_bytes is at least 10.
std::string CutText(absl::string_view text, size_t max_bytes);

}  // namespace base

#endif  // BASE_CUT_TEXT_H_
