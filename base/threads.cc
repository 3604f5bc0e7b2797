// The end of a detached thread is seen from within: a value of the thread (pthread_setspecific)
// that sets itself again until the system's last round of destructors. By then the objects of C++
// and those that libraries have bound to the thread are destroyed.
//
// What limits the number of threads is read only when one is missing: the limit of the user
// (RLIMIT_NPROC, which does not bind root) and that of the cgroup (pids.max), whichever of them was
// met. Memory for a stack can be what is missing, too, so the system's own reason is named first.

#include "base/threads.h"

#include <limits.h>
#include <pthread.h>
#include <sys/resource.h>
#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <memory>
#include <string>
#include <system_error>
#include <utility>
#include <vector>

#include "absl/status/status.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "absl/strings/str_split.h"
#include "base/clock.h"
#include "base/files.h"
#include "base/log.h"

namespace base {
namespace {

// In the last one of the system's sanitizers forget the thread.
constexpr int kRounds = PTHREAD_DESTRUCTOR_ITERATIONS - 1;
constexpr absl::Duration kWarningPause = absl::Minutes(1);

std::string FirstLineOf(const std::string& path) {
  const std::string text = ReadFile(path).value_or("");
  return text.substr(0, text.find('\n'));
}

// Inside a container the cgroup of the process is the root of what it sees.
std::string PidsOfCgroup() {
  // With cgroup v2 there is one line, "0::/path".
  const std::vector<std::string> parts = absl::StrSplit(FirstLineOf("/proc/self/cgroup"), "::");
  const std::string own = parts.size() == 2 ? parts[1] : "";
  for (const std::string& folder :
       {absl::StrCat("/sys/fs/cgroup", own, "/pids.max"), std::string("/sys/fs/cgroup/pids.max"),
        std::string("/sys/fs/cgroup/pids/pids.max")}) {
    const std::string most = FirstLineOf(folder);
    if (!most.empty() && most != "max") return most;
  }
  return "";
}

std::string Limits() {
  std::vector<std::string> limits;
  rlimit of_user{};
  if (getrlimit(RLIMIT_NPROC, &of_user) == 0 && of_user.rlim_cur != RLIM_INFINITY) {
    limits.push_back(absl::StrCat(of_user.rlim_cur, " for the user (ulimit -u)"));
  }
  if (const std::string pids = PidsOfCgroup(); !pids.empty()) {
    limits.push_back(absl::StrCat(pids, " for the container (pids.max)"));
  }
  return limits.empty() ? "no limit is set" : absl::StrJoin(limits, ", ");
}

// Returns whether it is time to log that a thread is missing. All such lines count together.
bool MayWarn() {
  static std::atomic<int64_t> next_at = 0;
  const int64_t now = absl::ToInt64Seconds(RealClock().SteadyNow() - SteadyTime());
  int64_t at = next_at;
  return now >= at &&
         next_at.compare_exchange_strong(at, now + absl::ToInt64Seconds(kWarningPause));
}

[[noreturn]] void EndForLackOf(absl::string_view what, const absl::Status& why) {
  LogError("ends: a thread that cannot be done without is missing",
           {{"for", what}, {"error", why}});
  // Other threads are running and would meet objects that are destroyed.
  _exit(1);
}

}  // namespace

absl::StatusOr<std::thread> TryStartThread(std::function<void()> run) {
  try {
    return std::thread(std::move(run));
  } catch (const std::system_error& error) {
    return absl::ResourceExhaustedError(
        absl::StrCat("the system has no thread left: ", error.code().message(),
                     "; limits of processes and threads: ", Limits()));
  }
}

std::thread StartThread(absl::string_view what, std::function<void()> run) {
  absl::StatusOr<std::thread> thread = TryStartThread(std::move(run));
  if (!thread.ok()) EndForLackOf(what, thread.status());
  return *std::move(thread);
}

// What a thread sets for itself as it begins.
struct DetachedThreads::Ending {
  // Called once in each round of destructors.
  static void Pass(void* value) {
    std::unique_ptr<Ending> ending(static_cast<Ending*>(value));
    if (++ending->rounds < kRounds) {
      Set(std::move(ending));
    } else {
      ending->threads->CountEnded();
    }
  }

  static void Set(std::unique_ptr<Ending> ending) {
    static pthread_key_t key{};
    static const int no_key = pthread_key_create(&key, &Pass);
    const int error = no_key != 0 ? no_key : pthread_setspecific(key, ending.get());
    if (error != 0) {
      EndForLackOf(ending->threads->what_,
                   absl::ErrnoToStatus(error, "the end of a thread cannot be seen"));
    }
    ending.release();
  }

  DetachedThreads* threads;
  int rounds = 0;
};

bool DetachedThreads::Start(bool others, std::function<void()> run) {
  {
    const std::lock_guard<std::mutex> lock(mu_);
    ++running_;
  }
  auto counted = [this, run = std::move(run)]() mutable {
    Ending::Set(std::make_unique<Ending>(Ending{this}));
    run();
    run = nullptr;  // What it holds may be what this object belongs to.
  };
  absl::StatusOr<std::thread> thread = TryStartThread(std::move(counted));
  if (thread.ok()) {
    thread->detach();
    return true;
  }
  // Without other threads for it, the work would never be done.
  if (!others) EndForLackOf(what_, thread.status());
  CountEnded();
  if (MayWarn()) {
    LogWarning("a thread is missing, and others do its work",
               {{"for", what_}, {"error", thread.status()}});
  }
  return false;
}

void DetachedThreads::CountEnded() {
  const std::lock_guard<std::mutex> lock(mu_);
  --running_;
  ended_.notify_all();  // Whoever waits may destroy this object once the lock is given back.
}

void DetachedThreads::AwaitEnd() {
  std::unique_lock<std::mutex> lock(mu_);
  ended_.wait(lock, [this] { return running_ == 0; });
}

bool DetachedThreads::AwaitEndFor(absl::Duration patience) {
  std::unique_lock<std::mutex> lock(mu_);
  // A longer time would overflow the clock of the wait.
  const absl::Duration at_most = std::min(patience, absl::Hours(24 * 365));
  return ended_.wait_for(lock, absl::ToChronoNanoseconds(at_most),
                         [this] { return running_ == 0; });
}

}  // namespace base
