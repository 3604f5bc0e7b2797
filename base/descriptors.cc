#include "base/descriptors.h"

#include <sys/resource.h>

#include <cerrno>

namespace base {

absl::StatusOr<long long> RaiseDescriptorLimit() {
  rlimit limit;
  if (getrlimit(RLIMIT_NOFILE, &limit) != 0) {
    return absl::ErrnoToStatus(errno, "reading the limit of open descriptors");
  }
  limit.rlim_cur = limit.rlim_max;
  if (setrlimit(RLIMIT_NOFILE, &limit) != 0) {
    return absl::ErrnoToStatus(errno, "raising the limit of open descriptors");
  }
  return static_cast<long long>(limit.rlim_cur);
}

}  // namespace base
