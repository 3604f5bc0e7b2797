#include "cmd/controller-manager/stop_limit.h"

#include <unistd.h>

#include <thread>

#include "absl/strings/str_cat.h"
#include "absl/strings/string_view.h"
#include "base/clock.h"

namespace cmd {

void EndProcessAfter(absl::Duration limit, int exit_code) {
  std::thread([limit, exit_code] {
    base::RealClock().SleepFor(limit, {});
    // The log is not used, because a thread that hangs may hold its lock.
    const std::string message =
        absl::StrCat("the stop has taken longer than ", absl::FormatDuration(limit), ", ending\n");
    static_cast<void>(!write(STDERR_FILENO, message.data(), message.size()));
    _exit(exit_code);
  }).detach();
}

}  // namespace cmd
