// Determines how long to wait before the next attempt after failures in a row.
#ifndef KUBE_CACHE_INTERNAL_BACKOFF_H_
#define KUBE_CACHE_INTERNAL_BACKOFF_H_

#include <algorithm>

#include "absl/time/time.h"
#include "base/random.h"

namespace kube::internal {

// The delay doubles from `first` to `longest`. A random part of up to the same length is added, but
// never beyond `longest`, so that the clients of a server that is up again do not all connect at
// once. Not thread-safe.
class Backoff {
 public:
  Backoff(absl::Duration first, absl::Duration longest) : first_(first), longest_(longest) {}

  absl::Duration Next() {
    ++failures_;
    base_ = base_ == absl::ZeroDuration() ? first_ : std::min(base_ * 2, longest_);
    return base::Jitter(std::min(base_, longest_ / 2), 1.0);
  }
  void Reset() {
    failures_ = 0;
    base_ = absl::ZeroDuration();
  }
  int failures() const { return failures_; }

 private:
  const absl::Duration first_, longest_;
  absl::Duration base_;
  int failures_ = 0;
};

}  // namespace kube::internal

#endif  // KUBE_CACHE_INTERNAL_BACKOFF_H_
