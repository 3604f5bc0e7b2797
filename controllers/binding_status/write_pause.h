// How long a binding's status rests after it was written: by the number of its clusters.
//
// A patch carries the whole list status.aggregatedStatus, and so do its answer and the event that
// every watcher gets. Without a pause, each change in one of M clusters would cost M items. With a
// pause in proportion to the items, a binding costs a bounded number of items a second, however
// many clusters it has and however often they change.
#ifndef CONTROLLERS_BINDING_STATUS_WRITE_PAUSE_H_
#define CONTROLLERS_BINDING_STATUS_WRITE_PAUSE_H_

#include <algorithm>
#include <cstddef>
#include <cstdint>

#include "absl/time/time.h"

namespace controllers {

// The pause after a write for each item that it carried; a hundred clusters mean 1 s.
inline constexpr absl::Duration kPausePerCluster = absl::Milliseconds(10);
inline constexpr absl::Duration kLongestPause = absl::Seconds(30);

// Returns the pause after a write of a status with so many clusters.
inline absl::Duration PauseAfter(size_t clusters) {
  return std::min(kLongestPause, static_cast<int64_t>(clusters) * kPausePerCluster);
}

}  // namespace controllers

#endif  // CONTROLLERS_BINDING_STATUS_WRITE_PAUSE_H_
