// Starts a program by fork and exec, and ends it. The child reports a failed exec through a pipe
// that the exec itself closes: when the parent reads nothing, the program runs. Between fork and
// exec only async-signal-safe functions may be called, because other threads of this process may
// hold locks (that of malloc, for example) which nobody releases in the copy.
//
// A child gets SIGTERM from the kernel when the thread that has forked it ends, also when this
// process is killed. Hence ChildLauncher forks from a thread of its own, which lives as long as the
// sandbox: a thread that serves one request would take its children along. A child that ignores
// SIGTERM outlives a parent that was killed.

#include "cmd/sandbox/child_process.h"

#include <fcntl.h>
#include <signal.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cerrno>

#include "absl/strings/str_cat.h"
#include "absl/time/clock.h"
#include "base/child_program.h"
#include "base/clock.h"
#include "base/status.h"
#include "base/threads.h"

namespace cmd {
namespace {

constexpr absl::Duration kGrace = absl::Seconds(5);
constexpr absl::Duration kCheck = absl::Milliseconds(10);

// REQUIRES: the process has ended; waitpid was not asked about stops.
std::string Describe(int status) {
  if (WIFSIGNALED(status)) return absl::StrCat("was ended by signal ", WTERMSIG(status));
  return absl::StrCat("exited with code ", WEXITSTATUS(status));
}

}  // namespace

absl::StatusOr<std::unique_ptr<ChildProcess>> ChildProcess::Start(const Options& options) {
  const int log =
      open(options.log_file.c_str(),
           O_WRONLY | O_CREAT | O_CLOEXEC | (options.keep_log ? O_APPEND : O_TRUNC), 0600);
  if (log < 0) return absl::ErrnoToStatus(errno, absl::StrCat("opening ", options.log_file));
  const absl::StatusOr<pid_t> pid = base::StartProgram({.program = options.program,
                                                        .arguments = options.arguments,
                                                        .output = log,
                                                        .errors = log,
                                                        .ends_with_thread = true});
  close(log);
  RETURN_IF_ERROR(base::Annotate(pid.status(), "cannot run ", options.program));
  return std::unique_ptr<ChildProcess>(new ChildProcess(*pid));
}

ChildProcess::~ChildProcess() {
  if (Ended().has_value()) return;
  kill(pid_, SIGTERM);
  const base::Clock& clock = base::RealClock();
  const base::SteadyTime deadline = clock.SteadyNow() + kGrace;
  while (!Ended().has_value() && clock.SteadyNow() < deadline) absl::SleepFor(kCheck);
  // It had its time to end by itself.
  if (ended_.has_value()) return;
  kill(pid_, SIGKILL);
  base::AwaitEnd(pid_);
}

std::optional<std::string> ChildProcess::Ended() {
  int status = 0;
  if (!ended_.has_value() && waitpid(pid_, &status, WNOHANG) == pid_) {
    ended_ = Describe(status);
    ended_at_ = absl::Now();
  }
  return ended_;
}

ChildLauncher::ChildLauncher()
    : thread_(base::StartThread("the controller manager", [this] { Run(); })) {}

ChildLauncher::~ChildLauncher() {
  {
    absl::MutexLock lock(&mu_);
    ending_ = true;
  }
  thread_.join();
}

absl::StatusOr<std::unique_ptr<ChildProcess>> ChildLauncher::Start(
    const ChildProcess::Options& options) {
  // It is on the stack of the caller, who waits until the thread has finished with it.
  Job job = {.options = options, .result = absl::UnknownError("not started")};
  const auto is_free = [this]() ABSL_EXCLUSIVE_LOCKS_REQUIRED(mu_) { return job_ == nullptr; };
  absl::MutexLock lock(&mu_, absl::Condition(&is_free));
  job_ = &job;
  mu_.Await(absl::Condition(&job.done));
  return std::move(job.result);
}

void ChildLauncher::Run() {
  const auto has_work = [this]() ABSL_EXCLUSIVE_LOCKS_REQUIRED(mu_) {
    return ending_ || job_ != nullptr;
  };
  absl::MutexLock lock(&mu_);
  while (true) {
    mu_.Await(absl::Condition(&has_work));
    if (job_ == nullptr) return;
    job_->result = ChildProcess::Start(job_->options);
    job_->done = true;
    job_ = nullptr;
  }
}

}  // namespace cmd
