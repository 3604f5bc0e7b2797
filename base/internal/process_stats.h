// Reads what the kernel reports about this process. Private to base/.
#ifndef BASE_INTERNAL_PROCESS_STATS_H_
#define BASE_INTERNAL_PROCESS_STATS_H_

#include <optional>

namespace base::internal {

struct ProcessStats {
  double cpu_seconds = 0;
  double resident_bytes = 0;
  double virtual_bytes = 0;
  double start_time_seconds = 0;  // Since the epoch.
  double open_fds = 0;
  double max_fds = 0;
};

// Read from /proc; nullopt where there is none.
std::optional<ProcessStats> ReadProcessStats();

}  // namespace base::internal

#endif  // BASE_INTERNAL_PROCESS_STATS_H_
