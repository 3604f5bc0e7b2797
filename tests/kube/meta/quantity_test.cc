#include "kube/meta/quantity.h"

#include <cmath>
#include <limits>

#include <catch2/catch.hpp>

#include "tests/kube/meta/truth_table.h"

namespace {

using kube::Quantity;
using Format = kube::Quantity::Format;

Quantity Parse(absl::string_view text) {
  const auto quantity = Quantity::Parse(text);
  INFO(text << ": " << quantity.status().message());
  REQUIRE(quantity.ok());
  return *quantity;
}

std::string NameOf(Format format) {
  switch (format) {
    case Format::kBinarySI:
      return "BinarySI";
    case Format::kDecimalExponent:
      return "DecimalExponent";
    case Format::kDecimalSI:
      return "DecimalSI";
  }
  return "";
}

void CheckParsed(const Quantity& quantity, const json::Value& expected) {
  CHECK(quantity.ToString() == expected["text"].ToString());
  CHECK(NameOf(quantity.format()) == expected["format"].ToString());
  CHECK(quantity.AsApproximateFloat() == Approx(expected["float"].AsDouble()).epsilon(1e-15));
  if (expected.Has("value")) {
    CHECK(quantity.Value() == expected["value"].AsInt());
    CHECK(quantity.MilliValue() == expected["milli"].AsInt());
  }
}

TEST_CASE("quantities parse and print as apimachinery's do") {
  const json::Value table = kube_test::LoadTable("quantities.json");
  REQUIRE(table["parse"].size() > 200);
  for (const json::Value& row : table["parse"].items()) {
    INFO(json::Write(row));
    const auto quantity = Quantity::Parse(row["in"].AsString());
    if (row.Has("error")) {
      REQUIRE_FALSE(quantity.ok());
      CHECK(quantity.status().code() == absl::StatusCode::kInvalidArgument);
      CHECK(std::string(quantity.status().message()) == row["error"].ToString());
      continue;
    }
    REQUIRE(quantity.ok());
    CheckParsed(*quantity, row);
  }
}

// Short whole numbers are parsed by other code than those with a fraction.
TEST_CASE("a quantity in an object is a text, a number or nothing") {
  const auto read = [](const std::string& text) {
    const auto quantity = Quantity::FromJson(json::Parse(text).value());
    return quantity.ok() ? quantity->ToString() : "refused";
  };
  CHECK(read(R"("100m")") == "100m");
  CHECK(read("2") == "2");
  CHECK(read("0.5") == "500m");
  CHECK(read("null") == "0");
  for (const char* wrong : {R"("")", R"("much")", "true", "{}", "[]"}) {
    INFO(wrong);
    CHECK(read(wrong) == "refused");
  }
}

TEST_CASE("a fraction of zero changes nothing, whatever the number of digits and the suffix") {
  for (const char* suffix : {"",   "n",  "u",  "m",  "k",  "M",   "G",  "T",   "E",   "Ki",
                             "Mi", "Gi", "Ti", "Ei", "e3", "e-3", "E9", "e10", "e-9", "e-12"}) {
    for (const char digit : {'0', '1', '7', '9'}) {
      for (size_t size = 1; size <= 21; ++size) {
        const std::string digits(size, digit);
        CAPTURE(digits, suffix);
        const Quantity whole = Parse(digits + suffix);
        const Quantity with_fraction = Parse(digits + ".0" + suffix);
        CHECK(Compare(whole, with_fraction) == 0);
        CHECK(whole.ToString() == with_fraction.ToString());
      }
    }
  }
}

TEST_CASE("sums, differences and comparisons of quantities are apimachinery's") {
  const json::Value table = kube_test::LoadTable("quantities.json");
  REQUIRE(table["sums"].size() > 200);
  for (const json::Value& row : table["sums"].items()) {
    INFO(json::Write(row));
    const Quantity a = Parse(row["a"].AsString());
    const Quantity b = Parse(row["b"].AsString());
    Quantity sum = a;
    sum.Add(b);
    CHECK(sum.ToString() == row["add"].ToString());
    Quantity difference = a;
    difference.Sub(b);
    CHECK(difference.ToString() == row["sub"].ToString());
    CHECK(Compare(a, b) == row["cmp"].AsInt());
    CHECK((a == b) == (row["cmp"].AsInt() == 0));
    CHECK((a < b) == (row["cmp"].AsInt() < 0));
  }
}

TEST_CASE("a printed quantity parses to an equal one") {
  const json::Value table = kube_test::LoadTable("quantities.json");
  for (const json::Value& row : table["parse"].items()) {
    if (row.Has("error")) continue;
    const Quantity quantity = Parse(row["in"].AsString());
    const Quantity again = Parse(quantity.ToString());
    INFO(row["in"].AsString());
    CHECK(again == quantity);
  }
}

TEST_CASE("a binary quantity that is not a multiple of 1024 prints in full") {
  CHECK(Parse("62.5Ki").ToString() == "64000");
  CHECK(Parse("64000").ToString() == "64k");
}

TEST_CASE("whole units and thousandths round away from zero") {
  const struct {
    const char* text;
    int64_t value;
    int64_t milli;
  } cases[] = {{"1.5", 2, 1500},   {"-1.5", -2, -1500}, {"1n", 1, 1},
               {"-1n", -1, -1},    {"1001u", 1, 2},     {"-1001u", -1, -2},
               {"2000m", 2, 2000}, {"0", 0, 0},         {"1Ki", 1024, 1024000}};
  for (const auto& c : cases) {
    INFO(c.text);
    CHECK(Parse(c.text).Value() == c.value);
    CHECK(Parse(c.text).MilliValue() == c.milli);
  }
}

TEST_CASE("what does not fit an int64 saturates") {
  constexpr int64_t kMax = std::numeric_limits<int64_t>::max();
  constexpr int64_t kMin = std::numeric_limits<int64_t>::min();
  CHECK(Parse("100E").Value() == kMax);
  CHECK(Parse("-100E").Value() == kMin);
  CHECK(Parse("1E").MilliValue() == kMax);
  CHECK(Parse("100Ei").Value() == kMax);
  CHECK(Parse("-100Ei").Value() == -kMax);
}

TEST_CASE("quantities have no bound") {
  CHECK(Parse("1e400").ToString() == "10e399");
  CHECK(std::isinf(Parse("1e400").AsApproximateFloat()));
  CHECK(Parse("-1e400").AsApproximateFloat() == -std::numeric_limits<double>::infinity());
  CHECK(Parse("0e400").AsApproximateFloat() == 0);
  for (const char* text : {"1e40", "1e2000000000", "123456789012345678901e2000000000",
                           "99999999999999999999999999999999999999999999999999"}) {
    INFO(text);
    Quantity quantity = Parse(text);
    CHECK(quantity.Value() == std::numeric_limits<int64_t>::max());
    CHECK(quantity.MilliValue() == std::numeric_limits<int64_t>::max());
    const Quantity before = quantity;
    quantity.Add(quantity);
    CHECK(before < quantity);
    quantity.Sub(before);
    CHECK(quantity == before);
    quantity.Sub(before);
    CHECK(quantity.IsZero());
  }
}

TEST_CASE("sums are exact up to ten thousand digits") {
  Quantity exact = Parse("1e9999");
  exact.Add(Parse("1"));
  CHECK(exact.ToString() == "1" + std::string(9998, '0') + "1");
  exact.Sub(Parse("1e9999"));
  CHECK(exact == Parse("1"));
  Quantity large = Parse("1e2000000000");
  large.Add(Parse("1"));
  CHECK(large.ToString() == "100e1999999998");
  large.Sub(Parse("5"));
  CHECK(large == Parse("1e2000000000"));
  for (const char* text : {"1", "1Gi"}) {
    Quantity sum = Parse(text);
    sum.Add(large);
    CHECK(sum.ToString() == "100e1999999998");
  }
}

TEST_CASE("an exponent is printed within 32 bits") {
  CHECK(Parse("1000e2147483647").ToString() == "10000e2147483646");
  CHECK(Parse(Parse("1000e2147483647").ToString()) == Parse("1000e2147483647"));
}

TEST_CASE("what is less than a nano is one, however little it is") {
  for (const char* text : {"1e-10", "1e-2000000000", "123456789012345678901e-2000000000"}) {
    INFO(text);
    CHECK(Parse(text) == Parse("1n"));
  }
}

TEST_CASE("large decimal quantities print with the largest suffix") {
  CHECK(Parse("1000E").ToString() == "1000E");
  CHECK(Parse("1e21").ToString() == "1e21");
  Quantity sum = Parse("999999999999999999999");
  sum.Add(Parse("1"));
  CHECK(sum.ToString() == "1000E");
}

TEST_CASE("quantities made from numbers print in their format") {
  CHECK(Quantity().ToString() == "0");
  CHECK(Quantity::FromInt(2048, Format::kBinarySI).ToString() == "2Ki");
  CHECK(Quantity::FromInt(2000).ToString() == "2k");
  CHECK(Quantity::FromInt(-3).ToString() == "-3");
  CHECK(Quantity::FromInt(std::numeric_limits<int64_t>::min()).Value() ==
        std::numeric_limits<int64_t>::min());
  CHECK(Quantity::FromMilli(1500).ToString() == "1500m");
  CHECK(Quantity::FromMilli(2000).ToString() == "2");
  CHECK(Quantity::FromInt(2048).WithFormat(Format::kBinarySI).ToString() == "2Ki");
  CHECK(Quantity::FromInt(3000).WithFormat(Format::kDecimalExponent).ToString() == "3e3");
}

TEST_CASE("the sign of a quantity is that of its value") {
  CHECK(Parse("-1n").Sign() == -1);
  CHECK(Parse("0Ki").Sign() == 0);
  CHECK(Parse("0Ki").IsZero());
  CHECK(Parse("1n").Sign() == 1);
}

}  // namespace
