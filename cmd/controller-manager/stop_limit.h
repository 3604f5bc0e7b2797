// Ends a process that does not end by itself.
#ifndef CMD_CONTROLLER_MANAGER_STOP_LIMIT_H_
#define CMD_CONTROLLER_MANAGER_STOP_LIMIT_H_

#include "absl/time/time.h"

namespace cmd {

// How long a stop may take: the manager's graceful period and the destruction of objects after it.
inline constexpr absl::Duration kStopLimit = absl::Seconds(35);

// Ends the process with this exit code, without destroying anything, if it still runs after
// `limit`. A thread of its own waits, which no lock can delay. Thread-safe.
void EndProcessAfter(absl::Duration limit, int exit_code);

}  // namespace cmd

#endif  // CMD_CONTROLLER_MANAGER_STOP_LIMIT_H_
