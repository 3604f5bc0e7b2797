// Splits a Lua text into tokens, for checks of what is written rather than what is run.
#ifndef LUA_INTERNAL_TOKENS_H_
#define LUA_INTERNAL_TOKENS_H_

#include <string>
#include <vector>

#include "absl/strings/string_view.h"

namespace lua {

struct Token {
  enum class Kind {
    kName,    // Names and keywords.
    kString,  // `text` is the part between the quotes or brackets, with escapes as written.
    kNumber,
    kSymbol  // "=" and "==", "." and ".." and "..." are different ones; others are single bytes.
  } kind = Kind::kSymbol;
  absl::string_view text;  // A view of the given text.
  int line = 0;            // Counted from 1.
  int column = 0;          // In bytes, counted from 1.
};

// Comments and white space are left out. The tokens of a text that does not compile are
// unspecified.
std::vector<Token> Tokenize(absl::string_view text);

}  // namespace lua

#endif  // LUA_INTERNAL_TOKENS_H_
