// Limits of how many files and sockets this process may have open.
#ifndef BASE_DESCRIPTORS_H_
#define BASE_DESCRIPTORS_H_

#include "absl/status/statusor.h"

namespace base {

// Raises the soft limit of open descriptors (RLIMIT_NOFILE) to the hard one and returns it. The
// usual soft limit of 1,024 is too low for the connections to a hundred members; it exists for
// programs that use select(), which this one does not. Must be called first in main().
absl::StatusOr<long long> RaiseDescriptorLimit();

}  // namespace base

#endif  // BASE_DESCRIPTORS_H_
