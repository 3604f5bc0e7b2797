// Times that a cron expression stands for.
//
//   ASSIGN_OR_RETURN(const base::CronSchedule schedule,
//                    base::CronSchedule::Parse("30 7 * * mon-fri", zone));
//   const std::optional<absl::Time> next = schedule.Next(clock.Now());
//
// The language is that of the Go library robfig/cron v3 with five fields, as gocron v1 hands them
// to it: Karmada's CronFederatedHPAs are written in it.
#ifndef BASE_CRON_SCHEDULE_H_
#define BASE_CRON_SCHEDULE_H_

#include <cstdint>
#include <optional>

#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"
#include "absl/time/civil_time.h"
#include "absl/time/time.h"

namespace base {

// A value; any number of threads may use one.
class CronSchedule {
 public:
  // Reads one of
  //   * "minute hour day-of-month month day-of-week". A field is a list (",") of numbers, names
  //     ("jan", "MON"), ranges ("9-17"), "*" or "?", each with an optional step ("/15"; "5/15"
  //     begins with 5 and goes on to the end). Sunday is 0, and 7 is no day. A field that begins
  //     with "*" or "?" (with no step, or with step 1) restricts nothing; if both day fields
  //     restrict something, a day has to match only one of them. A field of commas alone has no
  //     value, so the schedule never fires.
  //   * "@yearly" ("@annually"), "@monthly", "@weekly", "@daily" ("@midnight"), "@hourly".
  //   * "@every 1h30m": at this distance from one another, in whole seconds, one second at least.
  // "TZ=Europe/Berlin " or "CRON_TZ=Europe/Berlin " before it replaces `zone` ("Local" does not).
  // kInvalidArgument, with the library's message.
  static absl::StatusOr<CronSchedule> Parse(absl::string_view text, absl::TimeZone zone);

  // Returns the first moment after `after` at which clocks in the time zone show a time that
  // matches; nullopt if there is none in the next ten years, such as for "0 0 30 2 *". A time that
  // is skipped when clocks are set forward is not there on that day; one that occurs twice when
  // they are set back is there twice. The two things in which the library differs are errors of it:
  // around a change by half an hour (Australia/Lord_Howe) it leaves times out or takes wrong ones,
  // and it leaves out days that begin at one o'clock in zones east of Greenwich (Africa/Cairo). For
  // "@every", returns `after` plus the distance. REQUIRES: `after` is finite.
  std::optional<absl::Time> Next(absl::Time after) const;

  // Returns whether it fires at `time`; always true for "@every".
  bool Contains(absl::Time time) const;

  // The distance of "@every"; nullopt for other schedules.
  const std::optional<absl::Duration>& interval() const { return interval_; }

 private:
  friend class CronParser;
  // Bit n is set if the value n matches.
  struct Fields {
    uint64_t minutes = 0;
    uint64_t hours = 0;
    uint64_t days = 0;
    uint64_t months = 0;
    uint64_t weekdays = 0;
    bool one_day_suffices = false;  // Both day fields restrict something.
  };

  bool Matches(absl::CivilDay day) const;
  // Returns the first matching minute of a day from `from` on; nullopt if none is left.
  std::optional<absl::CivilMinute> FindInDay(absl::CivilMinute from) const;
  // Returns the first matching minute from `from` on, whether or not clocks show it.
  std::optional<absl::CivilMinute> FindCivil(absl::CivilMinute from, absl::civil_year_t end) const;

  absl::TimeZone zone_;
  std::optional<absl::Duration> interval_;
  Fields fields_;
};

}  // namespace base

#endif  // BASE_CRON_SCHEDULE_H_
