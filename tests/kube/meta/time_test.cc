#include <catch2/catch.hpp>

#include "absl/time/civil_time.h"
#include "kube/meta/object.h"

namespace {

absl::Time At(int64_t seconds, int64_t nanos = 0) {
  return absl::FromUnixSeconds(seconds) + absl::Nanoseconds(nanos);
}

TEST_CASE("times print as metav1.Time and MicroTime, fractions cut off") {
  CHECK(kube::FormatTime(At(1767323045, 999999999)) == "2026-01-02T03:04:05Z");
  CHECK(kube::FormatTime(kube::ParseTime("0848-05-02T03:04:05+14:00").value()) ==
        "0848-05-01T13:04:05Z");
  CHECK(kube::FormatMicroTime(At(1767323045, 123456789)) == "2026-01-02T03:04:05.123456Z");
  CHECK(kube::FormatMicroTime(At(0)) == "1970-01-01T00:00:00.000000Z");
}

TEST_CASE("any RFC 3339 time parses") {
  const struct {
    const char* text;
    absl::Time time;
  } cases[] = {
      {"2026-01-02T03:04:05Z", At(1767323045)},
      {"2026-01-02T03:04:05.5Z", At(1767323045, 500'000'000)},
      {"2026-01-02T03:04:05.123456Z", At(1767323045, 123'456'000)},
      {"2026-01-02T03:04:05.1234567891Z", At(1767323045, 123'456'789)},
      {"2026-01-02T05:04:05+02:00", At(1767323045)},
      {"2026-01-01T21:34:05-05:30", At(1767323045)},
      {"2024-02-29T00:00:00Z", At(1709164800)},
      {"1969-12-31T23:59:59Z", At(-1)},
  };
  for (const auto& c : cases) {
    INFO(c.text);
    const auto time = kube::ParseTime(c.text);
    REQUIRE(time.ok());
    CHECK(*time == c.time);
  }
}

TEST_CASE("what is not an RFC 3339 time is refused") {
  for (const char* text : {"",
                           "now",
                           "2026-01-02",
                           "2026-01-02T03:04:05",
                           "2026-01-02 03:04:05Z",
                           "2026-01-02t03:04:05z",
                           "2026-1-02T03:04:05Z",
                           "2026-13-02T03:04:05Z",
                           "2026-02-30T03:04:05Z",
                           "2026-01-02T24:04:05Z",
                           "2026-01-02T03:60:05Z",
                           "2026-01-02T03:04:60Z",
                           "2026-01-02T03:04:05.Z",
                           "2026-01-02T03:04:05+0200",
                           "2026-01-02T03:04:05+02:60",
                           "2026-01-02T03:04:05Zx",
                           " 2026-01-02T03:04:05Z",
                           "infinite-future",
                           "-026-01-02T03:04:05Z",
                           "0000-01-01T03:04:05+14:00",
                           "9999-12-31T23:59:59-00:01"}) {
    INFO(text);
    CHECK(kube::ParseTime(text).status().code() == absl::StatusCode::kInvalidArgument);
  }
}

}  // namespace
