#include "base/stop_limit.h"

#include <unistd.h>

#include <thread>

#include "absl/strings/str_cat.h"
#include "absl/strings/string_view.h"
#include "absl/time/clock.h"
#include "base/threads.h"

namespace base {

void EndProcessAfter(absl::Duration limit, int exit_code) {
  absl::StatusOr<std::thread> thread = TryStartThread([limit, exit_code] {
    // Neither base::Clock nor the log is used, because a thread that hangs may hold their locks.
    absl::SleepFor(limit);
    const std::string message =
        absl::StrCat("the stop has taken longer than ", absl::FormatDuration(limit), ", ending\n");
    static_cast<void>(!write(STDERR_FILENO, message.data(), message.size()));
    _exit(exit_code);
  });
  // A process that ends for lack of threads must get to say so; whoever stops it sets a limit, too.
  if (thread.ok()) thread->detach();
}

}  // namespace base
