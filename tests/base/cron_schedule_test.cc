#include "base/cron_schedule.h"

#include <catch2/catch.hpp>
#include <fstream>
#include <map>
#include <string>
#include <vector>

#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "absl/strings/str_split.h"
#include "base/json.h"
#include "base/time_zone.h"

namespace {

constexpr char kTimes[] = "tests/data/upstream/cron-times.tsv";
constexpr char kErrors[] = "tests/data/upstream/cron-errors.jsonl";

absl::TimeZone Zone(absl::string_view name) {
  const absl::StatusOr<absl::TimeZone> zone = base::FindTimeZone(name);
  INFO(name);
  REQUIRE(zone.ok());
  return *zone;
}

base::CronSchedule Schedule(absl::string_view text, absl::string_view zone = "UTC") {
  const absl::StatusOr<base::CronSchedule> schedule = base::CronSchedule::Parse(text, Zone(zone));
  INFO(text << ": " << schedule.status());
  REQUIRE(schedule.ok());
  return *schedule;
}

absl::Time At(absl::string_view text) {
  absl::Time time;
  std::string error;
  INFO(text);
  REQUIRE(absl::ParseTime(absl::RFC3339_full, text, &time, &error));
  return time;
}

std::string Text(std::optional<absl::Time> time, absl::string_view zone = "UTC") {
  return time.has_value() ? absl::FormatTime("%Y-%m-%dT%H:%M:%S%Ez", *time, Zone(zone)) : "never";
}

// Returns the next `count` times, as clocks in the zone show them.
std::vector<std::string> Times(absl::string_view text, absl::string_view zone,
                               absl::string_view from, int count) {
  const base::CronSchedule schedule = Schedule(text, zone);
  std::vector<std::string> times;
  std::optional<absl::Time> time = At(from);
  for (int i = 0; i < count && time.has_value(); ++i) {
    time = schedule.Next(*time);
    times.push_back(Text(time, zone));
  }
  return times;
}
using Strings = std::vector<std::string>;

std::vector<std::string> Lines(const std::string& file) {
  std::ifstream in(file);
  std::vector<std::string> lines;
  for (std::string line; std::getline(in, line);) lines.push_back(line);
  REQUIRE_FALSE(lines.empty());
  return lines;
}

}  // namespace

TEST_CASE("schedules have the times that upstream's library computes, but for its errors") {
  int compared = 0, lost = 0;
  for (const std::string& line : Lines(kTimes)) {
    const std::vector<std::string> fields = absl::StrSplit(line, '\t');
    REQUIRE(fields.size() == 4);
    const base::CronSchedule schedule = Schedule(fields[1], fields[0]);
    INFO(line);
    std::optional<absl::Time> time = At(fields[2]);
    for (const absl::string_view next : absl::StrSplit(fields[3], ' ')) {
      time = schedule.Next(*time);
      if (next == "never") {
        CHECK_FALSE(time.has_value());
        break;
      }
      REQUIRE(time.has_value());
      ++compared;
      if (*time == At(next)) continue;
      // Around a change by half an hour, the library leaves times out, or returns a time at which
      // clocks show another hour than the schedule names.
      CHECK(fields[0] == "Australia/Lord_Howe");
      CHECK((*time < At(next) || !schedule.Contains(At(next))));
      ++lost;
      break;
    }
  }
  CHECK(compared > 3000);
  CHECK(lost < 100);
}

TEST_CASE("schedules are refused with the messages of upstream's library") {
  for (const std::string& line : Lines(kErrors)) {
    const json::Value item = *json::Parse(line);
    INFO(line);
    const auto schedule = base::CronSchedule::Parse(item["schedule"].AsString(), Zone("UTC"));
    CHECK(schedule.status().message() == item["error"].AsString());
  }
  // Upstream panics.
  CHECK(base::CronSchedule::Parse("TZ=UTC", Zone("UTC")).status().message() ==
        "there is no schedule after the time zone: TZ=UTC");
}

TEST_CASE("a time that clocks skip is not there on that day") {
  // From 02:00 to 03:00.
  CHECK(Times("30 2 * * *", "Europe/Berlin", "2024-03-29T12:00:00Z", 3) ==
        Strings{"2024-03-30T02:30:00+01:00", "2024-04-01T02:30:00+02:00",
                "2024-04-02T02:30:00+02:00"});
  CHECK(Times("0 * * * *", "America/New_York", "2024-03-10T05:30:00Z", 3) ==
        Strings{"2024-03-10T01:00:00-05:00", "2024-03-10T03:00:00-04:00",
                "2024-03-10T04:00:00-04:00"});
  // From 02:00 to 02:30.
  CHECK(Times("15,45 2 * * *", "Australia/Lord_Howe", "2024-10-05T00:00:00Z", 2) ==
        Strings{"2024-10-06T02:45:00+11:00", "2024-10-07T02:15:00+11:00"});
  // From midnight to 01:00.
  CHECK(Times("0 0 * * *", "America/Sao_Paulo", "2018-11-03T12:00:00Z", 2) ==
        Strings{"2018-11-05T00:00:00-02:00", "2018-11-06T00:00:00-02:00"});
  // A whole day, the 30th of December.
  CHECK(Times("0 9 * * *", "Pacific/Apia", "2011-12-29T00:00:00Z", 2) ==
        Strings{"2011-12-29T09:00:00-10:00", "2011-12-31T09:00:00+14:00"});
}

TEST_CASE("a time that comes twice is there twice") {
  // From 03:00 to 02:00.
  CHECK(Times("30 2 * * *", "Europe/Berlin", "2024-10-26T12:00:00Z", 3) ==
        Strings{"2024-10-27T02:30:00+02:00", "2024-10-27T02:30:00+01:00",
                "2024-10-28T02:30:00+01:00"});
  CHECK(Times("0 1 * * *", "America/New_York", "2024-11-03T04:30:00Z", 3) ==
        Strings{"2024-11-03T01:00:00-04:00", "2024-11-03T01:00:00-05:00",
                "2024-11-04T01:00:00-05:00"});
  // From 02:00 to 01:30.
  CHECK(Times("15,45 1 * * *", "Australia/Lord_Howe", "2024-04-06T12:00:00Z", 4) ==
        Strings{"2024-04-07T01:15:00+11:00", "2024-04-07T01:45:00+11:00",
                "2024-04-07T01:45:00+10:30", "2024-04-08T01:15:00+10:30"});
  CHECK(Times("*/20 0 * * *", "America/Sao_Paulo", "2018-02-18T01:30:00Z", 2) ==
        Strings{"2018-02-18T00:00:00-03:00", "2018-02-18T00:20:00-03:00"});
}

TEST_CASE("times that upstream's library loses are there") {
  CHECK(Times("0 2 * * *", "Australia/Lord_Howe", "2024-04-06T12:00:00Z", 1) ==
        Strings{"2024-04-07T02:00:00+10:30"});
  CHECK(Times("0 9 26 4 *", "Africa/Cairo", "2024-04-01T00:00:00Z", 1) ==
        Strings{"2024-04-26T09:00:00+03:00"});
}

TEST_CASE("zones without summer time have each time once a day") {
  for (const auto& [zone, offset] :
       std::map<std::string, std::string>{{"UTC", "+00:00"},
                                          {"Asia/Kolkata", "+05:30"},
                                          {"America/Phoenix", "-07:00"},
                                          {"Asia/Kathmandu", "+05:45"}}) {
    INFO(zone);
    CHECK(Times("30 2 * * *", zone, "2024-03-30T10:00:00Z", 2) ==
          Strings{absl::StrCat("2024-03-31T02:30:00", offset),
                  absl::StrCat("2024-04-01T02:30:00", offset)});
  }
}

TEST_CASE("a zone before the fields replaces the one that is given") {
  const absl::Time noon = At("2024-06-01T12:00:00Z");
  const auto next = [&](absl::string_view text) {
    return Text(Schedule(text, "Asia/Tokyo").Next(noon));
  };
  CHECK(next("0 9 * * *") == "2024-06-02T00:00:00+00:00");
  CHECK(next("TZ=UTC 0 9 * * *") == "2024-06-02T09:00:00+00:00");
  CHECK(next("CRON_TZ=Europe/Berlin 0 9 * * *") == "2024-06-02T07:00:00+00:00");
  CHECK(next("TZ=Local 0 9 * * *") == "2024-06-02T00:00:00+00:00");
}

TEST_CASE("a schedule without any time ends the search") {
  for (const char* text : {"0 0 30 2 *", "0 0 31 2,4,6,9,11 *", ", * * * *", "0 , * * *",
                           "0 0 , * *", "0 0 * , *", "0 0 , * ,"}) {
    INFO(text);
    CHECK_FALSE(Schedule(text, "Europe/Berlin").Next(At("2024-01-01T00:00:00Z")).has_value());
  }
  // Eight years without this day.
  CHECK(Text(Schedule("0 0 29 2 *").Next(At("2096-03-01T00:00:00Z"))) ==
        "2104-02-29T00:00:00+00:00");
}

TEST_CASE("a time is contained in its schedule") {
  const base::CronSchedule schedule = Schedule("*/5 * * * *");
  CHECK(schedule.Contains(At("2024-01-01T00:05:00Z")));
  CHECK_FALSE(schedule.Contains(At("2024-01-01T00:06:00Z")));
  CHECK_FALSE(schedule.Contains(At("2024-01-01T00:05:01Z")));
  CHECK(Schedule("@every 7s").Contains(At("2024-01-01T00:05:01Z")));
}

TEST_CASE("an interval has whole seconds, one at least") {
  CHECK(Schedule("@every 1h30m").interval() == absl::Minutes(90));
  CHECK(Schedule("@every 2.9s").interval() == absl::Seconds(2));
  CHECK(Schedule("@every 10ms").interval() == absl::Seconds(1));
  CHECK(Schedule("@every -1h").interval() == absl::Seconds(1));
  CHECK_FALSE(Schedule("@hourly").interval().has_value());
  CHECK(Text(Schedule("@every 90s").Next(At("2024-01-01T00:00:00.7Z"))) ==
        "2024-01-01T00:01:30+00:00");
}

TEST_CASE("white space of any kind separates fields") {
  CHECK(Text(Schedule("0\u00A09\t* *\u3000*").Next(At("2024-01-01T00:00:00Z"))) ==
        "2024-01-01T09:00:00+00:00");
}
