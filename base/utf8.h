// Finds characters in text from outside, which need not be UTF-8.
#ifndef BASE_UTF8_H_
#define BASE_UTF8_H_

#include <cstddef>
#include <cstdint>

#include "absl/strings/string_view.h"

namespace base {

// Returns the length of the well-formed multi-byte sequence that `text` begins with: 2 to 4; 0 if
// there is none, as for a text that begins with ASCII. REQUIRES: `text` is not empty.
size_t Utf8Length(absl::string_view text);

// Returns the code point of one character. REQUIRES: Utf8Length() is the character's size; or it is
// a single byte, whose value is returned.
uint32_t Utf8Code(absl::string_view character);

}  // namespace base

#endif  // BASE_UTF8_H_
