// Between two changes of the offset from UTC, clocks go on evenly. So the next time is looked for
// in the calendar alone, from what clocks show now; if clocks are changed before they show it, the
// search begins again at that moment. Skipped and repeated times need no case of their own.

#include "base/cron_schedule.h"

#include <bit>

namespace base {
namespace {

// The 29th of February is missing for eight years around 2100, and some times of a day are skipped
// now and then.
constexpr int kYears = 10;

absl::Time WholeSeconds(absl::Time time) {
  return absl::FromUnixSeconds(absl::ToUnixSeconds(time));
}

absl::CivilMinute RoundUp(absl::CivilSecond time) {
  const absl::CivilMinute minute(time);
  return absl::CivilSecond(minute) == time ? minute : minute + 1;
}

// Returns the lowest set bit from `from` on; -1 if there is none.
int LowestBit(uint64_t bits, int from) {
  constexpr int kBits = 64;
  if (from >= kBits) return -1;
  bits &= ~uint64_t{0} << from;
  return bits == 0 ? -1 : std::countr_zero(bits);
}

bool HasBit(uint64_t bits, int bit) { return (bits >> bit & 1) != 0; }

int SundayIsZero(absl::Weekday day) {
  constexpr int kDays = 7;
  return (static_cast<int>(day) - static_cast<int>(absl::Weekday::sunday) + kDays) % kDays;
}

}  // namespace

bool CronSchedule::Matches(absl::CivilDay day) const {
  const bool day_matches = HasBit(fields_.days, day.day());
  const bool weekday_matches = HasBit(fields_.weekdays, SundayIsZero(absl::GetWeekday(day)));
  return fields_.one_day_suffices ? day_matches || weekday_matches : day_matches && weekday_matches;
}

std::optional<absl::CivilMinute> CronSchedule::FindInDay(absl::CivilMinute from) const {
  int hour = LowestBit(fields_.hours, from.hour());
  int minute = LowestBit(fields_.minutes, hour == from.hour() ? from.minute() : 0);
  if (hour == from.hour() && minute < 0) {
    hour = LowestBit(fields_.hours, hour + 1);
    minute = LowestBit(fields_.minutes, 0);
  }
  if (hour < 0 || minute < 0) return std::nullopt;
  return absl::CivilMinute(from.year(), from.month(), from.day(), hour, minute);
}

std::optional<absl::CivilMinute> CronSchedule::FindCivil(absl::CivilMinute from,
                                                         absl::civil_year_t end) const {
  while (from.year() < end) {
    if (!HasBit(fields_.months, from.month())) {
      from = absl::CivilMinute(absl::CivilMonth(from) + 1);
      continue;
    }
    if (Matches(absl::CivilDay(from))) {
      if (const auto found = FindInDay(from)) return found;
    }
    from = absl::CivilMinute(absl::CivilDay(from) + 1);
  }
  return std::nullopt;
}

std::optional<absl::Time> CronSchedule::Next(absl::Time after) const {
  if (interval_.has_value()) return WholeSeconds(after) + *interval_;
  absl::Time from = WholeSeconds(after) + absl::Seconds(1);
  const absl::civil_year_t end = absl::ToCivilYear(from, zone_).year() + kYears;
  for (;;) {
    const absl::CivilSecond shown = absl::ToCivilSecond(from, zone_);
    const std::optional<absl::CivilMinute> found = FindCivil(RoundUp(shown), end);
    if (!found.has_value()) return std::nullopt;
    absl::TimeZone::CivilTransition change;
    const bool changes = zone_.NextTransition(from, &change);
    if (!changes || absl::CivilSecond(*found) < change.from) {
      return from + absl::Seconds(absl::CivilSecond(*found) - shown);
    }
    from += absl::Seconds(change.from - shown);
  }
}

bool CronSchedule::Contains(absl::Time time) const {
  return interval_.has_value() || Next(time - absl::Nanoseconds(1)) == time;
}

}  // namespace base
