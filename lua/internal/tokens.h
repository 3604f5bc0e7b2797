// The words of a Lua text, for findings about what is written rather than what is run.
#ifndef LUA_INTERNAL_TOKENS_H_
#define LUA_INTERNAL_TOKENS_H_

#include <string>
#include <vector>

#include "absl/strings/string_view.h"

namespace lua {

struct Token {
  enum class Kind {
    kName,    // Keywords, too.
    kString,  // `text` is what is between the quotes or brackets, escapes as they are written.
    kNumber,
    kSymbol  // "=" and "==", "." and ".." and "..." are different ones; others are single bytes.
  } kind = Kind::kSymbol;
  absl::string_view text;  // A part of the text that was given.
  int line = 0;            // From 1.
  int column = 0;          // In bytes, from 1.
};

// Comments and blanks are left out. A text that does not compile gives some tokens or other.
std::vector<Token> Tokenize(absl::string_view text);

}  // namespace lua

#endif  // LUA_INTERNAL_TOKENS_H_
