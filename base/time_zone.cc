// Abseil reads the database. It would also take names that lead out of it ("file:/etc/passwd",
// "/etc/passwd"), so names are checked first.

#include "base/time_zone.h"

#include <unistd.h>

#include <algorithm>
#include <cstdlib>
#include <string>

#include "absl/strings/ascii.h"
#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"

namespace base {
namespace {

bool IsNameCharacter(char c) { return absl::ascii_isalnum(c) || absl::StrContains("_+-/", c); }

// Returns where the database has to be.
std::string Directory() {
  const char* directory = std::getenv("TZDIR");
  return directory == nullptr || *directory == 0 ? "/usr/share/zoneinfo" : directory;
}

absl::Status UnknownZone(absl::string_view name) {
  const std::string directory = Directory();
  // A zone that every version of the database has.
  const bool there = access(absl::StrCat(directory, "/Europe/London").c_str(), R_OK) == 0;
  return absl::InvalidArgumentError(
      absl::StrCat("unknown time zone ", name,
                   there ? ""
                         : absl::StrCat(" (there are no time zones in ", directory,
                                        " where this program runs; the package tzdata brings "
                                        "them, and the program has to be started again then)")));
}

}  // namespace

absl::StatusOr<absl::TimeZone> FindTimeZone(absl::string_view name) {
  if (name.empty() || name == "UTC") return absl::UTCTimeZone();
  if (name == "Local") return absl::LocalTimeZone();
  if (absl::StrContains(name, "..") || name.front() == '/' || name.front() == '\\') {
    return absl::InvalidArgumentError("time: invalid location name");
  }
  absl::TimeZone zone;
  if (!std::all_of(name.begin(), name.end(), IsNameCharacter) ||
      !absl::LoadTimeZone(std::string(name), &zone)) {
    return UnknownZone(name);
  }
  return zone;
}

}  // namespace base
