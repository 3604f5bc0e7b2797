#include "base/go_syntax.h"

#include <catch2/catch.hpp>
#include <limits>
#include <string>

namespace {

std::string Duration(absl::string_view text) {
  const absl::StatusOr<absl::Duration> duration = base::GoParseDuration(text);
  return duration.ok() ? absl::FormatDuration(*duration) : std::string(duration.status().message());
}

}  // namespace

TEST_CASE("numbers are read as by strconv.Atoi") {
  CHECK(*base::GoAtoi("007") == 7);
  CHECK(*base::GoAtoi("+5") == 5);
  CHECK(*base::GoAtoi("-5") == -5);
  CHECK(*base::GoAtoi("9223372036854775807") == std::numeric_limits<int64_t>::max());
  CHECK(*base::GoAtoi("-9223372036854775808") == std::numeric_limits<int64_t>::min());
  for (const char* text : {"9223372036854775808", "-9223372036854775809", "99999999999999999999"}) {
    CHECK(base::GoAtoi(text).status().message() ==
          "strconv.Atoi: parsing \"" + std::string(text) + "\": value out of range");
  }
  for (const char* text : {"", "+", "-", "1 ", "0x1", "1_0", "--1"}) {
    CHECK(base::GoAtoi(text).status().message() ==
          "strconv.Atoi: parsing \"" + std::string(text) + "\": invalid syntax");
  }
}

TEST_CASE("text is quoted as by strconv.Quote") {
  CHECK(base::GoQuote("a\"b\\c\x01") == R"("a\"b\\c\x01")");
  CHECK(base::GoQuote("\a\b\f\n\r\t\v\x7f") == R"("\a\b\f\n\r\t\v\x7f")");
  CHECK(base::GoQuote("\xff\xc3 \xed\xa0\x80") == R"("\xff\xc3 \xed\xa0\x80")");
  CHECK(base::GoQuote(absl::string_view("\0", 1)) == R"("\x00")");
  // A no-break space, a soft hyphen, a line separator and a wide blank; letters and a symbol.
  CHECK(base::GoQuote("\u00a0\u00ad\u2028\u3000") == R"("\u00a0\u00ad\u2028\u3000")");
  CHECK(base::GoQuote("\u00e9\u00b5\ufffd\U0001F600") == "\"\u00e9\u00b5\ufffd\U0001F600\"");
  CHECK(base::GoQuote("\U000E0001\U0010ffff") == R"("\U000e0001\U0010ffff")");
}

TEST_CASE("durations are read as by time.ParseDuration") {
  CHECK(Duration("1h30m") == "1h30m");
  CHECK(Duration("-1.5h") == "-1h30m");
  CHECK(Duration("+.5s") == "500ms");
  CHECK(Duration("5.s") == "5s");
  CHECK(Duration("0") == "0");
  CHECK(Duration("3\xC2\xB5s") == "3us");
  CHECK(Duration("3\xCE\xBCs") == "3us");
  CHECK(Duration("1m1m") == "2m");
  CHECK(base::GoParseDuration("2562047h47m16.854775807s").ok());
  CHECK(base::GoParseDuration("-2562047h47m16.854775808s").ok());
  CHECK(Duration("2562047h47m16.854775808s") ==
        "time: invalid duration \"2562047h47m16.854775808s\"");
  CHECK(Duration("") == "time: invalid duration \"\"");
  CHECK(Duration(".s") == "time: invalid duration \".s\"");
  CHECK(Duration("99999999999999999999s") == "time: invalid duration \"99999999999999999999s\"");
  CHECK(Duration("2562048h") == "time: invalid duration \"2562048h\"");
  CHECK(Duration("3") == "time: missing unit in duration \"3\"");
  CHECK(Duration("3d") == "time: unknown unit \"d\" in duration \"3d\"");
  CHECK(Duration("inf") == "time: invalid duration \"inf\"");
  // Package time quotes in a way of its own.
  CHECK(Duration("a\"\n\x7f") == "time: invalid duration \"a\\\"\\x0a\x7f\"");
  CHECK(Duration("3\u00e9") == R"(time: unknown unit "\xc3\xa9" in duration "3\xc3\xa9")");
}
