// Finds the earliest or latest of RFC 3339 times and keeps its text.
#ifndef INTERPRETER_NATIVE_TIMES_H_
#define INTERPRETER_NATIVE_TIMES_H_

#include <cstdint>
#include <functional>

#include "absl/status/status.h"
#include "absl/strings/string_view.h"
#include "absl/time/time.h"
#include "base/status.h"
#include "kube/meta/object.h"

namespace interpreter::native {

// `Before(a, b)` is true when a wins over b. The texts added must outlive this object.
template <class Before>
class WinningTime {
 public:
  // Ignores "". kInvalidArgument when the text is not RFC 3339.
  absl::Status Add(absl::string_view text) {
    if (text.empty()) return absl::OkStatus();
    ASSIGN_OR_RETURN(const absl::Time time, kube::ParseTime(text));
    if (count_ == 0 || Before()(time, time_)) {
      time_ = time;
      text_ = text;
    }
    ++count_;
    return absl::OkStatus();
  }
  int64_t count() const { return count_; }
  // Returns "" when no time was added.
  absl::string_view text() const { return text_; }

 private:
  int64_t count_ = 0;
  absl::Time time_;
  absl::string_view text_;
};

using EarliestTime = WinningTime<std::less<absl::Time>>;
using LatestTime = WinningTime<std::greater<absl::Time>>;

}  // namespace interpreter::native

#endif  // INTERPRETER_NATIVE_TIMES_H_
