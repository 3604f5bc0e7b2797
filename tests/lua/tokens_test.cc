#include "lua/internal/tokens.h"

#include <catch2/catch.hpp>
#include <string>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"

namespace {

using lua::Token;

// Returns the words of the text: "n:name s:string 1:number o:symbol".
std::string Words(absl::string_view text) {
  return absl::StrJoin(lua::Tokenize(text), " ", [](std::string* out, const Token& token) {
    const char* kind = token.kind == Token::Kind::kName     ? "n:"
                       : token.kind == Token::Kind::kString ? "s:"
                       : token.kind == Token::Kind::kNumber ? "1:"
                                                            : "";
    absl::StrAppend(out, kind, token.text);
  });
}

}  // namespace

TEST_CASE("A Lua text is taken apart into names, strings, numbers and symbols") {
  CHECK(Words("local a_1=b.c..'d' ==2 f(...)") ==
        "n:local n:a_1 = n:b . n:c .. s:d == 1:2 n:f ( ... )");
  CHECK(Words("1 .5 0x1p+4 1e-3 3-x 0xe-1") == "1:1 1:.5 1:0x1p+4 1:1e-3 1:3 - n:x 1:0xe - 1:1");
  CHECK(Words("\xc3\xa4 = a::b") == "n:\xc3\xa4 = n:a :: n:b");
}

TEST_CASE("Strings end where Lua ends them") {
  CHECK(Words(R"("a\"b" 'c\\' x)") == R"(s:a\"b s:c\\ n:x)");
  CHECK(Words("[[a]b]] [==[c]]d]==] t[1]") == "s:a]b s:c]]d n:t [ 1:1 ]");
  CHECK(Words("\"open").empty());
}

TEST_CASE("Comments are no tokens") {
  CHECK(Words("a -- b\nc --[[ d\ne ]] f --[==[ g ]] ]==] h --[ i\nj") == "n:a n:c n:f n:h n:j");
}

TEST_CASE("Tokens know their line and column") {
  const auto tokens = lua::Tokenize("a\n  b [[\n\n]] c");
  CHECK(tokens.at(1).line == 2);
  CHECK(tokens.at(1).column == 3);
  CHECK(tokens.at(3).line == 4);
  CHECK(tokens.at(3).column == 4);
}
