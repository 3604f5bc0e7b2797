#include "base/enumerated.h"

#include <catch2/catch.hpp>

namespace {

enum class Colour { kRed, kBlue, kNameless };

constexpr auto kColours = base::Enumerate<Colour>({{Colour::kRed, "red"}, {Colour::kBlue, "Blue"}});
static_assert(kColours.TextOf(Colour::kBlue) == "Blue");
static_assert(kColours.Values()[0] == Colour::kRed);

}  // namespace

TEST_CASE("a value of an enumeration is written as its text") {
  CHECK(kColours.TextOf(Colour::kRed) == "red");
  CHECK(kColours.TextOf(Colour::kNameless).empty());
}

TEST_CASE("a value of an enumeration is read from its text") {
  CHECK(kColours.Named("Blue") == Colour::kBlue);
  CHECK_FALSE(kColours.Named("blue").has_value());
  CHECK(kColours.NamedInAnyCase("bLUE") == Colour::kBlue);
  CHECK_FALSE(kColours.NamedInAnyCase("").has_value());
}

TEST_CASE("the texts of an enumeration are listed in their order") {
  CHECK(kColours.Texts() == std::vector<std::string>{"red", "Blue"});
  CHECK(kColours.Listed() == "red, Blue");
}
