// Ends a process that does not end by itself.
#ifndef BASE_STOP_LIMIT_H_
#define BASE_STOP_LIMIT_H_

#include "absl/time/time.h"

namespace base {

// Ends the process with this exit code, without destroying anything, if it still runs after
// `limit`. A thread of its own waits, which no lock can delay. Thread-safe.
void EndProcessAfter(absl::Duration limit, int exit_code);

}  // namespace base

#endif  // BASE_STOP_LIMIT_H_
