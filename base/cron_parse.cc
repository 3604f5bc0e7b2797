// The parser of CronSchedule. Rules and messages are those of robfig/cron v3.0.1 (ParseStandard),
// and the time zone before the fields is handled as gocron v1.30.1 does (Scheduler.Cron).

#include <algorithm>
#include <string>
#include <utility>
#include <vector>

#include "absl/strings/ascii.h"
#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "absl/strings/str_replace.h"
#include "absl/strings/str_split.h"
#include "absl/strings/strip.h"
#include "base/cron_schedule.h"
#include "base/go_syntax.h"
#include "base/status.h"
#include "base/time_zone.h"

namespace base {
namespace {

// The values of a field. A value may be written by its name: names[i] stands for min + i.
struct Bounds {
  int64_t min, max;
  std::vector<absl::string_view> names;
};

const Bounds& Minutes() {
  static const Bounds* const bounds = new Bounds{0, 59, {}};
  return *bounds;
}
const Bounds& Hours() {
  static const Bounds* const bounds = new Bounds{0, 23, {}};
  return *bounds;
}
const Bounds& Days() {
  static const Bounds* const bounds = new Bounds{1, 31, {}};
  return *bounds;
}
const Bounds& Months() {
  static const Bounds* const bounds = new Bounds{
      1, 12, {"jan", "feb", "mar", "apr", "may", "jun", "jul", "aug", "sep", "oct", "nov", "dec"}};
  return *bounds;
}
const Bounds& Weekdays() {
  static const Bounds* const bounds =
      new Bounds{0, 6, {"sun", "mon", "tue", "wed", "thu", "fri", "sat"}};
  return *bounds;
}

struct Field {
  uint64_t bits = 0;
  bool is_open = false;  // It restricts nothing: one of its items was "*".
};

template <class... Parts>
absl::Status Invalid(const Parts&... parts) {
  return absl::InvalidArgumentError(absl::StrCat(parts...));
}

absl::StatusOr<int64_t> ParseNumber(absl::string_view text) {
  const absl::StatusOr<int64_t> number = GoAtoi(text);
  if (!number.ok()) {
    return Invalid("failed to parse int from ", text, ": ", number.status().message());
  }
  if (*number < 0) return Invalid("negative number (", *number, ") not allowed: ", text);
  return *number;
}

absl::StatusOr<int64_t> ParseValue(absl::string_view text, const Bounds& bounds) {
  for (size_t i = 0; i < bounds.names.size(); ++i) {
    if (absl::EqualsIgnoreCase(text, bounds.names[i])) {
      return bounds.min + static_cast<int64_t>(i);
    }
  }
  return ParseNumber(text);
}

bool IsStar(absl::string_view text) { return text == "*" || text == "?"; }

// An item of a list without its step.
struct Range {
  int64_t first = 0, last = 0;
  bool is_star = false, is_single = false;
};

// `item` is the whole item, for the messages.
absl::StatusOr<Range> ParseRange(absl::string_view text, const Bounds& bounds,
                                 absl::string_view item) {
  const std::vector<absl::string_view> ends = absl::StrSplit(text, '-');
  Range range;
  range.is_single = ends.size() == 1;
  // What follows "*-" has no meaning, and is not an error.
  if (IsStar(ends.front())) {
    range.first = bounds.min;
    range.last = bounds.max;
    range.is_star = true;
    return range;
  }
  ASSIGN_OR_RETURN(range.first, ParseValue(ends.front(), bounds));
  if (ends.size() > 2) return Invalid("too many hyphens: ", item);
  range.last = range.first;
  if (!range.is_single) {
    ASSIGN_OR_RETURN(range.last, ParseValue(ends.back(), bounds));
  }
  return range;
}

absl::Status Check(const Range& range, const Bounds& bounds, int64_t step, absl::string_view item) {
  if (range.first < bounds.min) {
    return Invalid("beginning of range (", range.first, ") below minimum (", bounds.min,
                   "): ", item);
  }
  if (range.last > bounds.max) {
    return Invalid("end of range (", range.last, ") above maximum (", bounds.max, "): ", item);
  }
  if (range.first > range.last) {
    return Invalid("beginning of range (", range.first, ") beyond end of range (", range.last,
                   "): ", item);
  }
  if (step == 0) return Invalid("step of range should be a positive number: ", item);
  return absl::OkStatus();
}

absl::StatusOr<Field> ParseItem(absl::string_view item, const Bounds& bounds) {
  const std::vector<absl::string_view> parts = absl::StrSplit(item, '/');
  ASSIGN_OR_RETURN(Range range, ParseRange(parts.front(), bounds, item));
  int64_t step = 1;
  if (parts.size() > 2) return Invalid("too many slashes: ", item);
  if (parts.size() == 2) {
    ASSIGN_OR_RETURN(step, ParseNumber(parts.back()));
    // "5/15" is short for "5-59/15".
    if (range.is_single) range.last = bounds.max;
  }
  RETURN_IF_ERROR(Check(range, bounds, step, item));
  Field field;
  // "*/2" restricts the field, although it has a star.
  field.is_open = range.is_star && step == 1;
  for (int64_t value = range.first; value <= range.last; value += step) {
    field.bits |= uint64_t{1} << value;
    if (step > range.last) break;  // Adding it might overflow.
  }
  return field;
}

absl::StatusOr<Field> ParseField(absl::string_view text, const Bounds& bounds) {
  Field field;
  for (const absl::string_view item : absl::StrSplit(text, ',', absl::SkipEmpty())) {
    ASSIGN_OR_RETURN(const Field one, ParseItem(item, bounds));
    field.bits |= one.bits;
    field.is_open = field.is_open || one.is_open;
  }
  return field;
}

// Returns the text with ASCII blanks in the place of the other characters that Go counts as white
// space; a no-break space comes along when a schedule is copied from a web page.
std::string WithPlainBlanks(absl::string_view text) {
  return absl::StrReplaceAll(text, {{"\u0085", " "},
                                    {"\u00A0", " "},
                                    {"\u1680", " "},
                                    {"\u2000", " "},
                                    {"\u2001", " "},
                                    {"\u2002", " "},
                                    {"\u2003", " "},
                                    {"\u2004", " "},
                                    {"\u2005", " "},
                                    {"\u2006", " "},
                                    {"\u2007", " "},
                                    {"\u2008", " "},
                                    {"\u2009", " "},
                                    {"\u200A", " "},
                                    {"\u2028", " "},
                                    {"\u2029", " "},
                                    {"\u202F", " "},
                                    {"\u205F", " "},
                                    {"\u3000", " "}});
}

// Returns the fields that a descriptor stands for; "" if there is no such descriptor.
absl::string_view MeaningOf(absl::string_view descriptor) {
  if (descriptor == "@yearly" || descriptor == "@annually") return "0 0 1 1 *";
  if (descriptor == "@monthly") return "0 0 1 * *";
  if (descriptor == "@weekly") return "0 0 * * 0";
  if (descriptor == "@daily" || descriptor == "@midnight") return "0 0 * * *";
  if (descriptor == "@hourly") return "0 * * * *";
  return "";
}

}  // namespace

class CronParser {
 public:
  explicit CronParser(absl::TimeZone zone) { schedule_.zone_ = zone; }

  absl::StatusOr<CronSchedule> Parse(absl::string_view text) {
    ASSIGN_OR_RETURN(const std::string rest, TakeZone(WithPlainBlanks(text)));
    RETURN_IF_ERROR(absl::StartsWith(rest, "@") ? ParseDescriptor(rest) : ParseFields(rest));
    return schedule_;
  }

 private:
  // Returns the text without the time zone before it.
  absl::StatusOr<std::string> TakeZone(absl::string_view text) {
    if (!absl::StartsWith(text, "TZ=") && !absl::StartsWith(text, "CRON_TZ=")) {
      return std::string(absl::StripAsciiWhitespace(text));
    }
    const size_t begin = text.find('=') + 1;
    const size_t end = text.find(' ');
    if (end == absl::string_view::npos) {
      // The library panics here.
      return Invalid("there is no schedule after the time zone: ", text);
    }
    const absl::string_view name = text.substr(begin, end - begin);
    // The library reads "Local" as the zone of the times that it is asked about: the zone that the
    // caller gave stays.
    if (name != "Local") {
      const absl::StatusOr<absl::TimeZone> zone = FindTimeZone(name);
      if (!zone.ok()) {
        return Invalid("provided bad location ", name, ": ", zone.status().message());
      }
      schedule_.zone_ = *zone;
    }
    return std::string(absl::StripAsciiWhitespace(text.substr(end)));
  }

  absl::Status ParseDescriptor(absl::string_view text) {
    if (const absl::string_view fields = MeaningOf(text); !fields.empty()) {
      return ParseFields(fields);
    }
    absl::string_view rest = text;
    if (!absl::ConsumePrefix(&rest, "@every ")) return Invalid("unrecognized descriptor: ", text);
    const absl::StatusOr<absl::Duration> distance = GoParseDuration(rest);
    if (!distance.ok()) {
      return Invalid("failed to parse duration ", text, ": ", distance.status().message());
    }
    // As in the library: whole seconds, and at least one.
    schedule_.interval_ = std::max(absl::Seconds(1), absl::Trunc(*distance, absl::Seconds(1)));
    return absl::OkStatus();
  }

  absl::Status ParseFields(absl::string_view text) {
    const std::vector<absl::string_view> texts =
        absl::StrSplit(text, absl::ByAnyChar(" \t\n\v\f\r"), absl::SkipEmpty());
    constexpr size_t kFields = 5;
    if (texts.size() != kFields) {
      return Invalid("expected exactly ", kFields, " fields, found ", texts.size(), ": [",
                     absl::StrJoin(texts, " "), "]");
    }
    ASSIGN_OR_RETURN(const Field minutes, ParseField(texts[0], Minutes()));
    ASSIGN_OR_RETURN(const Field hours, ParseField(texts[1], Hours()));
    ASSIGN_OR_RETURN(const Field days, ParseField(texts[2], Days()));
    ASSIGN_OR_RETURN(const Field months, ParseField(texts[3], Months()));
    ASSIGN_OR_RETURN(const Field weekdays, ParseField(texts[4], Weekdays()));
    schedule_.fields_ = {.minutes = minutes.bits,
                         .hours = hours.bits,
                         .days = days.bits,
                         .months = months.bits,
                         .weekdays = weekdays.bits,
                         // Cron's old rule: if both are restricted, a day fits by either of them,
                         // otherwise by both.
                         .one_day_suffices = !days.is_open && !weekdays.is_open};
    return absl::OkStatus();
  }

  CronSchedule schedule_;
};

absl::StatusOr<CronSchedule> CronSchedule::Parse(absl::string_view text, absl::TimeZone zone) {
  return CronParser(zone).Parse(text);
}

}  // namespace base
