// CPU profiles of this process.
#ifndef BASE_PROFILING_CPU_PROFILE_H_
#define BASE_PROFILING_CPU_PROFILE_H_

#include <string>

#include "absl/status/statusor.h"
#include "absl/time/time.h"
#include "base/clock.h"
#include "base/stop_token.h"

namespace profiling {

// Samples a hundred times per second of CPU time where the threads of the process are, and returns
// the samples in gperftools' format, with the map of the loaded libraries behind them. Blocks for
// `duration`; a stop ends it earlier with what there is. kUnavailable while another profile is
// being taken, or when the kernel does not permit it. Thread-safe.
absl::StatusOr<std::string> TakeCpuProfile(absl::Duration duration, const base::Clock& clock,
                                           const base::StopToken& stop);

}  // namespace profiling

#endif  // BASE_PROFILING_CPU_PROFILE_H_
