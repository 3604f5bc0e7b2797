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
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>

#include "absl/strings/str_cat.h"
#include "absl/time/clock.h"
#include "base/threads.h"

namespace cmd {
namespace {

constexpr absl::Duration kGrace = absl::Seconds(5);
constexpr absl::Duration kCheck = absl::Milliseconds(10);
constexpr int kCouldNotExec = 127;

// Runs between fork and exec, so it calls only functions that are safe in a copy of a program with
// threads.
[[noreturn]] void BecomeChild(const char* program, char* const* argv, int log, int report) {
  // This process blocks the signals that it waits for in a thread; the mask would be inherited.
  sigset_t none;
  sigemptyset(&none);
  sigprocmask(SIG_SETMASK, &none, nullptr);
  signal(SIGPIPE, SIG_DFL);
  setpgid(0, 0);  // Ctrl-C reaches only the parent, which then ends this process.
  // Ends it also when the parent is killed: when the thread ends that called fork().
  prctl(PR_SET_PDEATHSIG, SIGTERM);
  const int null = open("/dev/null", O_RDONLY);
  if (null >= 0) dup2(null, STDIN_FILENO);
  dup2(log, STDOUT_FILENO);
  dup2(log, STDERR_FILENO);
  execv(program, argv);
  const int error = errno;
  const ssize_t written = write(report, &error, sizeof(error));
  _exit(written < 0 ? kCouldNotExec + 1 : kCouldNotExec);
}

// REQUIRES: the process has ended; waitpid was not asked about stops.
std::string Describe(int status) {
  if (WIFSIGNALED(status)) return absl::StrCat("was ended by signal ", WTERMSIG(status));
  return absl::StrCat("exited with code ", WEXITSTATUS(status));
}

}  // namespace

absl::StatusOr<std::unique_ptr<ChildProcess>> ChildProcess::Start(const Options& options) {
  std::vector<std::string> words = {options.program};
  words.insert(words.end(), options.arguments.begin(), options.arguments.end());
  std::vector<char*> argv;
  for (std::string& word : words) argv.push_back(word.data());
  argv.push_back(nullptr);

  const int log =
      open(options.log_file.c_str(),
           O_WRONLY | O_CREAT | O_CLOEXEC | (options.keep_log ? O_APPEND : O_TRUNC), 0600);
  if (log < 0) return absl::ErrnoToStatus(errno, absl::StrCat("opening ", options.log_file));
  int report[2];
  if (pipe2(report, O_CLOEXEC) != 0) {
    const int error = errno;
    close(log);
    return absl::ErrnoToStatus(error, "making a pipe");
  }
  // Both ends of the pipe are closed by exec, and in the parent the writing end is closed below, so
  // that the read ends.
  const pid_t pid = fork();
  if (pid == 0) BecomeChild(argv[0], argv.data(), log, report[1]);
  const int fork_error = errno;
  close(log);
  close(report[1]);
  int exec_error = 0;
  const bool failed =
      pid > 0 && read(report[0], &exec_error, sizeof(exec_error)) == sizeof(exec_error);
  close(report[0]);
  if (pid < 0) return absl::ErrnoToStatus(fork_error, "starting a process");
  if (!failed) return std::unique_ptr<ChildProcess>(new ChildProcess(pid));
  waitpid(pid, nullptr, 0);
  return absl::ErrnoToStatus(exec_error, absl::StrCat("cannot run ", options.program));
}

ChildProcess::~ChildProcess() {
  if (Ended().has_value()) return;
  kill(pid_, SIGTERM);
  const absl::Time deadline = absl::Now() + kGrace;
  while (!Ended().has_value() && absl::Now() < deadline) absl::SleepFor(kCheck);
  // It had its time to end by itself.
  if (ended_.has_value()) return;
  kill(pid_, SIGKILL);
  waitpid(pid_, nullptr, 0);
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
