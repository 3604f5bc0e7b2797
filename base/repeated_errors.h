// Keeps a log readable while something keeps failing: the first of several similar errors is logged
// at once; after that one line in five minutes reports how many more there were.
//
//   const base::RepeatedErrors::Verdict verdict = errors_.Note(kind, clock.SteadyNow());
//   if (verdict.log) base::LogError("reconcile failed", {..., {"more", verdict.More()}});
#ifndef BASE_REPEATED_ERRORS_H_
#define BASE_REPEATED_ERRORS_H_

#include <map>
#include <string>

#include "absl/base/thread_annotations.h"
#include "absl/strings/string_view.h"
#include "absl/synchronization/mutex.h"
#include "absl/time/time.h"
#include "base/clock.h"

namespace base {

// Thread-safe.
class RepeatedErrors {
 public:
  static constexpr absl::Duration kPeriod = absl::Minutes(5);
  // How many different kinds are logged in one period; errors of further kinds are only counted.
  static constexpr int kKindsPerPeriod = 20;

  struct Verdict {
    bool log = false;  // The caller should log this error.
    int64_t more = 0;  // Similar errors that were not logged since the last line.
    absl::Duration since = absl::ZeroDuration();  // How long ago that line was.
    // "37 more like it in 5m", or "" when there were none.
    std::string More() const;
  };

  // Records one error. Errors with equal `kind` are similar.
  Verdict Note(absl::string_view kind, SteadyTime now);

 private:
  struct Kind {
    SteadyTime logged_at;
    int64_t more = 0;
  };
  absl::Mutex mu_;
  // At most kKindsPerPeriod and one: "" stands for all further kinds.
  std::map<std::string, Kind, std::less<>> kinds_ ABSL_GUARDED_BY(mu_);
};

// Returns what messages about different objects have in common: `message` with each occurrence of
// the given name, and each run of digits, replaced by a mark.
std::string KindOfMessage(absl::string_view message, absl::string_view name);

}  // namespace base

#endif  // BASE_REPEATED_ERRORS_H_
