#include "tests/support/passing_time.h"

#include <unistd.h>

#include <filesystem>
#include <string>
#include <system_error>

#include "absl/status/statusor.h"
#include "absl/time/clock.h"
#include "base/files.h"
#include "tests/support/eventually.h"

namespace tests {
namespace {

// Returns whether a thread has work: it runs, or waits for a core or a disk.
bool HasWork(const std::filesystem::path& task) {
  // A thread that ends between the opening and the reading of its file makes the reading fail.
  const absl::StatusOr<std::string> stat = base::ReadFile(task / "stat");
  if (!stat.ok()) return false;
  // "1234 (name) S ...": the name may hold anything, so the last bracket counts (proc(5)).
  const size_t bracket = stat->rfind(')');
  if (bracket == std::string::npos || bracket + 2 >= stat->size()) return false;
  return (*stat)[bracket + 2] == 'R' || (*stat)[bracket + 2] == 'D';
}

bool AnotherThreadHasWork() {
  const std::string own = std::to_string(gettid());
  std::error_code error;
  for (std::filesystem::directory_iterator task("/proc/self/task", error), end; task != end;
       task.increment(error)) {
    if (error) return true;  // A thread ended meanwhile.
    if (task->path().filename() != own && HasWork(task->path())) return true;
  }
  return false;
}

}  // namespace

void AwaitIdleThreads() {
  // Twice in a row: between two sleeps a thread may hand its work to another.
  constexpr int kLooks = 200;
  int idle = 0;
  for (int look = 0; look < kLooks && idle < 2; ++look) {
    idle = AnotherThreadHasWork() ? 0 : idle + 1;
    if (idle < 2) absl::SleepFor(absl::Milliseconds(1));
  }
}

bool PassTimeUntil(FakeClock& clock, absl::Duration step, const std::function<bool()>& done,
                   absl::Duration most) {
  const base::SteadyTime end = clock.SteadyNow() + most;
  return Eventually([&] {
    AwaitIdleThreads();
    if (done()) return true;
    if (clock.SteadyNow() < end) clock.AdvanceAndAwait(step);
    return done();
  });
}

}  // namespace tests
