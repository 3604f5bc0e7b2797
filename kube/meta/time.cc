// Writes and parses times of the API (declared in object.h): RFC 3339 as Go reads it, with any
// number of digits behind the second and with any zone; written in UTC. What would have to be
// corrected (a February 30, a leap second) is refused.

#include <algorithm>

#include "absl/status/status.h"
#include "absl/strings/ascii.h"
#include "absl/strings/str_cat.h"
#include "absl/time/civil_time.h"
#include "kube/meta/object.h"

namespace kube {
namespace {

// Removes fixed pieces from the front of a text. Once something does not fit, ok() stays false.
class Scanner {
 public:
  explicit Scanner(absl::string_view text) : rest_(text) {}

  bool ok() const { return ok_; }
  bool AtEnd() const { return rest_.empty(); }
  char Peek() const { return rest_.empty() ? '\0' : rest_.front(); }

  void Literal(char c) {
    if (Peek() != c) return Fail();
    rest_.remove_prefix(1);
  }

  int Digits(size_t count) {
    int value = 0;
    for (size_t i = 0; i < count; ++i) value = value * 10 + Digit();
    return value;
  }

  // Reads ".123" or nothing; drops digits beyond nanoseconds.
  absl::Duration Fraction() {
    if (Peek() != '.') return absl::ZeroDuration();
    rest_.remove_prefix(1);
    int64_t nanos = 0;
    int64_t unit = 100'000'000;
    do {
      nanos += Digit() * unit;
      unit /= 10;
    } while (ok_ && absl::ascii_isdigit(Peek()));
    return absl::Nanoseconds(nanos);
  }

  // Reads "Z", "+hh:mm" or "-hh:mm".
  absl::Duration Offset() {
    const char sign = Peek();
    if (sign != 'Z' && sign != '+' && sign != '-') Fail();
    if (!ok_) return absl::ZeroDuration();
    rest_.remove_prefix(1);
    if (sign == 'Z') return absl::ZeroDuration();
    const int hours = Digits(2);
    Literal(':');
    const int minutes = Digits(2);
    if (hours > 24 || minutes > 59) Fail();
    const absl::Duration offset = absl::Hours(hours) + absl::Minutes(minutes);
    return sign == '-' ? -offset : offset;
  }

 private:
  void Fail() { ok_ = false; }

  int Digit() {
    if (!absl::ascii_isdigit(Peek())) {
      Fail();
      return 0;
    }
    const int digit = rest_.front() - '0';
    rest_.remove_prefix(1);
    return digit;
  }

  absl::string_view rest_;
  bool ok_ = true;
};

absl::CivilSecond ScanCivilSecond(Scanner& in, bool& in_range) {
  const int year = in.Digits(4);
  in.Literal('-');
  const int month = in.Digits(2);
  in.Literal('-');
  const int day = in.Digits(2);
  in.Literal('T');
  const int hour = in.Digits(2);
  in.Literal(':');
  const int minute = in.Digits(2);
  in.Literal(':');
  const int second = in.Digits(2);
  const absl::CivilSecond civil(year, month, day, hour, minute, second);
  // CivilSecond normalises "February 30", which the API refuses.
  in_range = civil.month() == month && civil.day() == day && civil.hour() == hour &&
             civil.minute() == minute && civil.second() == second;
  return civil;
}

}  // namespace

std::string FormatTime(absl::Time t) {
  return absl::FormatTime("%E4Y-%m-%dT%H:%M:%SZ", t, absl::UTCTimeZone());
}

std::string FormatMicroTime(absl::Time t) {
  return absl::FormatTime("%E4Y-%m-%dT%H:%M:%E6SZ", t, absl::UTCTimeZone());
}

absl::StatusOr<absl::Time> ParseTime(absl::string_view text) {
  Scanner in(text);
  bool in_range = false;
  const absl::CivilSecond civil = ScanCivilSecond(in, in_range);
  const absl::Duration fraction = in.Fraction();
  const absl::Duration offset = in.Offset();
  if (!in.ok() || !in.AtEnd() || !in_range) {
    return absl::InvalidArgumentError(absl::StrCat("\"", text, "\" is not an RFC 3339 time"));
  }
  const absl::Time time = absl::FromCivil(civil, absl::UTCTimeZone()) + fraction - offset;
  const absl::civil_year_t year = absl::ToCivilYear(time, absl::UTCTimeZone()).year();
  // FormatTime could not write another year with four digits, and nobody could read it back.
  if (year >= 0 && year <= 9999) return time;
  return absl::InvalidArgumentError(
      absl::StrCat("\"", text, "\" is outside of the years 0 to 9999 in UTC"));
}

}  // namespace kube
