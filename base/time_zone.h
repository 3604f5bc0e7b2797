// Time zones by the names that users write into objects.
#ifndef BASE_TIME_ZONE_H_
#define BASE_TIME_ZONE_H_

#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"
#include "absl/time/time.h"

namespace base {

// Returns the time zone of that name, as Go's time.LoadLocation does: "" and "UTC" stand for UTC,
// "Local" for the zone of this process, anything else for a name of the IANA database. The
// database comes from the directory in the environment variable TZDIR, or from /usr/share/zoneinfo
// (package tzdata). kInvalidArgument, with Go's message, for a name that is not in it; the message
// also says so if the machine has no database. A name that was not found stays unknown until the
// process ends. Thread-safe.
absl::StatusOr<absl::TimeZone> FindTimeZone(absl::string_view name);

}  // namespace base

#endif  // BASE_TIME_ZONE_H_
