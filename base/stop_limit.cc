#include "base/stop_limit.h"

#include <unistd.h>

#include <thread>

#include "absl/strings/str_cat.h"
#include "absl/strings/string_view.h"
#include "absl/time/clock.h"

namespace base {

void EndProcessAfter(absl::Duration limit, int exit_code) {
  std::thread([limit, exit_code] {
    // Neither base::Clock nor the log is used, because a thread that hangs may hold their locks.
    absl::SleepFor(limit);
    const std::string message =
        absl::StrCat("the stop has taken longer than ", absl::FormatDuration(limit), ", ending\n");
    static_cast<void>(!write(STDERR_FILENO, message.data(), message.size()));
    _exit(exit_code);
  }).detach();
}

}  // namespace base
