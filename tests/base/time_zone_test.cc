#include "base/time_zone.h"

#include <catch2/catch.hpp>
#include <cstdlib>
#include <string>

#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "tests/support/temp_directory.h"

namespace {

std::string ErrorFor(absl::string_view name) {
  return std::string(base::FindTimeZone(name).status().message());
}

}  // namespace

TEST_CASE("names of time zones mean what they mean to Go") {
  CHECK(base::FindTimeZone("")->name() == "UTC");
  CHECK(base::FindTimeZone("UTC")->name() == "UTC");
  CHECK(base::FindTimeZone("Europe/Berlin")->name() == "Europe/Berlin");
  CHECK(base::FindTimeZone("Etc/GMT+3").ok());
  CHECK(*base::FindTimeZone("Local") == absl::LocalTimeZone());
  CHECK(ErrorFor("Mars/Olympus") == "unknown time zone Mars/Olympus");
  CHECK(ErrorFor("Europe") == "unknown time zone Europe");
}

TEST_CASE("names that lead out of the database are refused") {
  for (const char* name :
       {"../../etc/passwd", "Europe/../../x", "/usr/share/zoneinfo/UTC", "\\x"}) {
    CHECK(ErrorFor(name) == "time: invalid location name");
  }
  for (const char* name : {"file:/usr/share/zoneinfo/Europe/Berlin", "libc:localtime",
                           "Fixed/UTC+01:00:00", " ", "Europe/Berlin "}) {
    INFO(name);
    CHECK(absl::StartsWith(ErrorFor(name), "unknown time zone "));
  }
}

TEST_CASE("a machine without a database is named as the reason") {
  const tests::TempDirectory empty;
  setenv("TZDIR", empty.path().c_str(), 1);
  // A zone that no other test has loaded.
  const std::string error = ErrorFor("Indian/Kerguelen");
  unsetenv("TZDIR");
  CHECK(absl::StartsWith(error, absl::StrCat("unknown time zone Indian/Kerguelen (there are no "
                                             "time zones in ",
                                             empty.path())));
}
