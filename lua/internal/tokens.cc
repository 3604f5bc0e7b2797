// Splits a script into names, numbers, texts and symbols, as LuaJIT's lexer does for scripts that
// compile; comments and blanks are skipped. It never fails: a text or comment that does not end
// takes the rest of the script. Tokens are views of the given text. Lines and columns (in bytes)
// count from 1.

#include "lua/internal/tokens.h"

#include <algorithm>
#include <cstddef>

#include "absl/strings/ascii.h"
#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"

namespace lua {
namespace {

// LuaJIT takes every non-ASCII byte for a letter.
bool IsLetter(char c) { return absl::ascii_isalpha(c) || c == '_' || !absl::ascii_isascii(c); }
bool IsNameByte(char c) { return IsLetter(c) || absl::ascii_isdigit(c); }

class Tokenizer {
 public:
  explicit Tokenizer(absl::string_view text) : rest_(text), line_start_(text.data()) {}

  std::vector<Token> Run() {
    while (!rest_.empty()) TakeOne();
    return std::move(tokens_);
  }

 private:
  void TakeOne() {
    const char c = rest_[0];
    if (absl::ascii_isspace(c)) return Skip(1);
    if (absl::StartsWith(rest_, "--")) return SkipComment();
    if (IsLetter(c)) return Take(Token::Kind::kName, CountWhile(IsNameByte));
    if (absl::ascii_isdigit(c) || (c == '.' && rest_.size() > 1 && absl::ascii_isdigit(rest_[1]))) {
      return Take(Token::Kind::kNumber, NumberSize());
    }
    if (c == '"' || c == '\'') return TakeQuoted();
    if (const size_t opening = BracketSize(rest_); opening > 0) return TakeBracketed(opening);
    for (const absl::string_view symbol : {"...", "..", "==", "~=", "<=", ">=", "::"}) {
      if (absl::StartsWith(rest_, symbol)) return Take(Token::Kind::kSymbol, symbol.size());
    }
    Take(Token::Kind::kSymbol, 1);
  }

  // Moves on by that many bytes.
  void Skip(size_t size) {
    for (size_t i = 0; i < size; ++i) {
      if (rest_[i] != '\n') continue;
      ++line_;
      line_start_ = rest_.data() + i + 1;
    }
    rest_.remove_prefix(size);
  }

  void Take(Token::Kind kind, size_t size) { Take(kind, size, 0, 0); }
  // Takes a token of `size` bytes, whose text lacks the first `before` and the last `after` ones.
  void Take(Token::Kind kind, size_t size, size_t before, size_t after) {
    const auto column = static_cast<int>(rest_.data() - line_start_) + 1;
    tokens_.push_back({kind, rest_.substr(before, size - before - after), line_, column});
    Skip(size);
  }

  template <class Predicate>
  size_t CountWhile(Predicate predicate) const {
    return std::find_if_not(rest_.begin(), rest_.end(), predicate) - rest_.begin();
  }

  // Includes the sign of an exponent, as in 1e-3 and 0x1p+4.
  size_t NumberSize() const {
    size_t size = 1;
    for (; size < rest_.size(); ++size) {
      const char before = absl::ascii_tolower(rest_[size - 1]);
      const bool sign = (rest_[size] == '+' || rest_[size] == '-') &&
                        (before == 'p' || (before == 'e' && !absl::StartsWith(rest_, "0x")));
      if (!IsNameByte(rest_[size]) && rest_[size] != '.' && !sign) break;
    }
    return size;
  }

  void TakeQuoted() {
    size_t end = 1;
    // A backslash takes the next byte along, so an escaped quote does not end the text.
    while (end < rest_.size() && rest_[end] != rest_[0]) end += rest_[end] == '\\' ? 2 : 1;
    if (end >= rest_.size()) return Skip(rest_.size());
    Take(Token::Kind::kString, end + 1, 1, 1);
  }

  // Returns the length of "[[" or "[==[" at the beginning; 0 when there is none.
  static size_t BracketSize(absl::string_view text) {
    if (!absl::StartsWith(text, "[")) return 0;
    const size_t second = text.find_first_not_of('=', 1);
    return second != absl::string_view::npos && text[second] == '[' ? second + 1 : 0;
  }
  // Returns the length of the bracketed text, whose first `opening` bytes open it.
  size_t BracketedSize(absl::string_view text, size_t opening) const {
    const std::string closing = absl::StrCat("]", std::string(opening - 2, '='), "]");
    const size_t end = text.find(closing, opening);
    return end == absl::string_view::npos ? text.size() : end + closing.size();
  }

  void TakeBracketed(size_t opening) {
    const size_t size = BracketedSize(rest_, opening);
    // The closing bracket is missing.
    if (size < 2 * opening) return Skip(size);
    Take(Token::Kind::kString, size, opening, opening);
  }

  void SkipComment() {
    const absl::string_view comment = rest_.substr(2);
    const size_t opening = BracketSize(comment);
    Skip(opening > 0 ? 2 + BracketedSize(comment, opening)
                     : std::min(rest_.find('\n'), rest_.size()));
  }

  absl::string_view rest_;
  int line_ = 1;
  const char* line_start_;
  std::vector<Token> tokens_;
};

}  // namespace

std::vector<Token> Tokenize(absl::string_view text) { return Tokenizer(text).Run(); }

}  // namespace lua
