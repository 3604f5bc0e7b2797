#include "base/daemon_process.h"

#include <malloc.h>

#include "absl/synchronization/mutex.h"
#include "base/tls.h"

namespace base {

void PrepareDaemonProcess() {
  tls::DisableSystemBundlePerConnection();
  // Threads are many and mostly idle: an arena for each would double the memory.
  mallopt(M_ARENA_MAX, 2);
  // Otherwise an arena grows by one page and one system call at a time.
  mallopt(M_TOP_PAD, 256 << 10);
  // Debian's Abseil searches for lock cycles at every lock unless that is switched off.
  absl::SetMutexDeadlockDetectionMode(absl::OnDeadlockCycle::kIgnore);
}

}  // namespace base
