#include "search/cache/composite_version.h"

#include <catch2/catch.hpp>

#include "search/cache/internal/continue_token.h"

namespace search {
namespace {

TEST_CASE("a composite version is written byte for byte as upstream writes it") {
  CompositeVersion version;
  CHECK(version.ToString().empty());
  version.Set("member2", 714);
  version.Set("member1", "714");
  CHECK(version.ToString() == "eyJtZW1iZXIxIjoiNzE0IiwibWVtYmVyMiI6IjcxNCJ9");
  version.Set("member2", "");
  CHECK(CompositeVersion::Parse(version.ToString()).Get("member1") == "714");
  CHECK(CompositeVersion::Parse(version.ToString()).Get("member2").empty());
}

TEST_CASE("0 stands for any version of every cluster until one is set") {
  CompositeVersion version = CompositeVersion::Parse("0");
  CHECK(version.any());
  CHECK(version.Get("member1") == "0");
  CHECK(version.ToString() == "0");
  version.Set("member1", 5);
  CHECK(version.Get("member2").empty());
}

TEST_CASE("what is no composite version says nothing") {
  for (const char* text : {"", "12345", "!", "eyJtZW1iZXIxIjoiNzE0IiwibWVtYmVyMiI6IjcxNCJ9==",
                           "W10", "bnVsbA", "e30", "\xff"}) {
    CAPTURE(text);
    CHECK(CompositeVersion::Parse(text).empty());
  }
  // {"a":1,"b":"x","c":"7"}
  const auto mixed = CompositeVersion::Parse("eyJhIjoxLCJiIjoieCIsImMiOiI3In0");
  CHECK(mixed.Get("a").empty());
  CHECK(mixed.Number("b") == -1);
  CHECK(mixed.Number("c") == 7);
}

TEST_CASE("continue tokens are upstream's, with the token of an API server inside") {
  internal::ContinueToken token{"v", "member2", ""};
  token.of_member = internal::MemberToken{714, std::string("ns/a\0", 5)}.ToString();
  // {"v":"meta.k8s.io/v1","rv":714,"start":"ns/a\u0000"}
  CHECK(token.of_member ==
        "eyJ2IjoibWV0YS5rOHMuaW8vdjEiLCJydiI6NzE0LCJzdGFydCI6Im5zL2FcdTAwMDAifQ");
  const auto parsed = internal::ContinueToken::Parse(token.ToString());
  CHECK(parsed.version == "v");
  CHECK(parsed.cluster == "member2");
  const auto member = internal::MemberToken::Parse(parsed.of_member);
  REQUIRE(member.has_value());
  CHECK(member->version == 714);
  CHECK(member->start == std::string("ns/a\0", 5));
  // {"rv":"v","cluster":"member2"}
  CHECK((internal::ContinueToken{"v", "member2", ""}).ToString() ==
        "eyJydiI6InYiLCJjbHVzdGVyIjoibWVtYmVyMiJ9");
  CHECK((internal::ContinueToken{"v", "", ""}).ToString().empty());
}

TEST_CASE("a token that cannot be read counts as none") {
  for (const char* text : {"", "x", "W10", "bnVsbA", "eyJydiI6MX0"}) {
    CAPTURE(text);
    CHECK(internal::ContinueToken::Parse(text).empty());
    CHECK_FALSE(internal::MemberToken::Parse(text).has_value());
  }
}

}  // namespace
}  // namespace search
