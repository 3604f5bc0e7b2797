// Keeps a log readable while something goes on failing: of errors that are alike the first one is
// worth a line at once; after that one line in five minutes says how many more there were.
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
  // So many different kinds are logged in one period; more of them are only counted.
  static constexpr int kKindsPerPeriod = 20;

  struct Verdict {
    bool log = false;  // Write a line about this error.
    int64_t more = 0;  // Errors like it that were not logged since the last line.
    absl::Duration since = absl::ZeroDuration();  // The time of that line, counted back from now.
    // "37 more like it in 5m", or "" when there were none.
    std::string More() const;
  };

  // Notes one error. Errors of equal `kind` are alike.
  Verdict Note(absl::string_view kind, SteadyTime now);

 private:
  struct Kind {
    SteadyTime logged_at;
    int64_t more = 0;
  };
  absl::Mutex mu_;
  // At most kKindsPerPeriod and one: "" stands for all kinds beyond them.
  std::map<std::string, Kind, std::less<>> kinds_ ABSL_GUARDED_BY(mu_);
};

// What is the same in messages about different objects: `message` with each occurrence of the given
// name, and each run of digits, replaced by a mark.
std::string KindOfMessage(absl::string_view message, absl::string_view name);

}  // namespace base

#endif  // BASE_REPEATED_ERRORS_H_
