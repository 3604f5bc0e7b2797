// Everything that needs memory is prepared before the process is made. The new process is made by
// vfork, because copying the page tables of a process with a large cache would take milliseconds:
// it borrows this process's memory, while the calling thread waits, until it executes the program.
// So it may only call functions of the kernel, and no handler of a signal may run in it: all
// signals are blocked until it has reset them. An error on the way comes back through a pipe, whose
// end is closed by executing the program.

#include "base/child_program.h"

#include <fcntl.h>
#include <pthread.h>
#include <signal.h>
#include <sys/prctl.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cerrno>
#include <cstdlib>
#include <cstring>
#include <utility>

#include "absl/status/status.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_split.h"
#include "absl/strings/string_view.h"

namespace base {
namespace {

constexpr int kCouldNotExec = 127;
constexpr int kReport = STDERR_FILENO + 1;

// What the new process needs. It is prepared before that process exists.
struct Prepared {
  const char* program;
  char* const* arguments;
  char* const* environment;
  int input, output, errors;  // Descriptors from kReport on.
  int report;                 // The end of the pipe for an error.
  bool ends_with_thread;
};

absl::Status ErrorOf(int error) {
  return absl::Status(absl::ErrnoToStatusCode(error), std::strerror(error));
}

// A descriptor that executing a program closes, above the standard ones, so that putting one in its
// place does not close another.
class Descriptor {
 public:
  explicit Descriptor(int fd) : fd_(fd) {}
  Descriptor(const Descriptor&) = delete;
  ~Descriptor() {
    if (fd_ >= 0) close(fd_);
  }
  static Descriptor CopyOf(int fd) { return Descriptor(fcntl(fd, F_DUPFD_CLOEXEC, kReport + 1)); }
  int get() const { return fd_; }
  void Close() { close(std::exchange(fd_, -1)); }

 private:
  int fd_;
};

// Returns the path of the program; "" when $PATH has none.
std::string PathOf(const std::string& program) {
  if (program.find('/') != std::string::npos) return program;
  const char* path = std::getenv("PATH");
  for (const absl::string_view folder :
       absl::StrSplit(path == nullptr ? "/bin:/usr/bin" : path, ':')) {
    std::string candidate = absl::StrCat(folder.empty() ? "." : folder, "/", program);
    struct stat found;
    if (stat(candidate.c_str(), &found) == 0 && S_ISREG(found.st_mode) &&
        access(candidate.c_str(), X_OK) == 0) {
      return candidate;
    }
  }
  return "";
}

std::vector<char*> Pointers(const std::vector<std::string>& texts) {
  std::vector<char*> pointers;
  for (const std::string& text : texts) pointers.push_back(const_cast<char*>(text.c_str()));
  pointers.push_back(nullptr);
  return pointers;
}

// Runs in the new process.
[[noreturn]] void Become(const Prepared& prepared) {
  struct sigaction standard = {};
  standard.sa_handler = SIG_DFL;
  for (int number = 1; number < NSIG; ++number) sigaction(number, &standard, nullptr);
  sigset_t none;
  sigemptyset(&none);
  sigprocmask(SIG_SETMASK, &none, nullptr);
  setpgid(0, 0);
  if (prepared.ends_with_thread) prctl(PR_SET_PDEATHSIG, SIGTERM);
  dup2(prepared.input, STDIN_FILENO);
  dup2(prepared.output, STDOUT_FILENO);
  dup2(prepared.errors, STDERR_FILENO);
  dup2(prepared.report, kReport);
  fcntl(kReport, F_SETFD, FD_CLOEXEC);
  closefrom(kReport + 1);  // Among others the sockets of other threads.
  execve(prepared.program, prepared.arguments, prepared.environment);
  const int error = errno;
  const ssize_t written = write(kReport, &error, sizeof(error));
  _exit(written < 0 ? kCouldNotExec + 1 : kCouldNotExec);
}

// Returns the number of the new process, or -1 with errno.
pid_t Fork(const Prepared& prepared) {
  sigset_t all, before;
  sigfillset(&all);
  // The end of a child that is short-lived would become pending while this thread blocks it, and
  // then interrupt a call of another thread, instead of being ignored.
  sigdelset(&all, SIGCHLD);
  pthread_sigmask(SIG_SETMASK, &all, &before);
  const pid_t pid = vfork();
  if (pid == 0) Become(prepared);
  const int error = errno;
  pthread_sigmask(SIG_SETMASK, &before, nullptr);
  errno = error;
  return pid;
}

}  // namespace

absl::StatusOr<pid_t> StartProgram(const ChildProgram& start) {
  const std::string path = PathOf(start.program);
  if (path.empty()) return ErrorOf(ENOENT);
  std::vector<std::string> words = {start.program};
  words.insert(words.end(), start.arguments.begin(), start.arguments.end());
  const std::vector<char*> arguments = Pointers(words);
  const std::vector<char*> environment =
      start.environment.has_value() ? Pointers(*start.environment) : std::vector<char*>();

  int ends[2];
  if (pipe2(ends, O_CLOEXEC) != 0) return ErrorOf(errno);
  const Descriptor result(ends[0]);
  Descriptor unmoved(ends[1]);
  Descriptor report = Descriptor::CopyOf(ends[1]);
  unmoved.Close();
  const Descriptor null(open("/dev/null", O_RDONLY | O_CLOEXEC));
  const Descriptor input = Descriptor::CopyOf(null.get());
  const Descriptor output = Descriptor::CopyOf(start.output < 0 ? STDOUT_FILENO : start.output);
  const Descriptor errors = Descriptor::CopyOf(start.errors < 0 ? STDERR_FILENO : start.errors);
  const bool has_output = output.get() >= 0 || start.output < 0;
  const bool has_errors = errors.get() >= 0 || start.errors < 0;
  if (report.get() < 0 || input.get() < 0 || !has_output || !has_errors) return ErrorOf(EMFILE);

  const pid_t pid =
      Fork({.program = path.c_str(),
            .arguments = arguments.data(),
            .environment = start.environment.has_value() ? environment.data() : environ,
            .input = input.get(),
            .output = output.get(),
            .errors = errors.get(),
            .report = report.get(),
            .ends_with_thread = start.ends_with_thread});
  if (pid < 0) return ErrorOf(errno);
  report.Close();
  int error = 0;
  ssize_t got = 0;
  do {
    got = read(result.get(), &error, sizeof(error));
  } while (got < 0 && errno == EINTR);
  if (got != sizeof(error)) return pid;
  AwaitEnd(pid);
  return ErrorOf(error);
}

int AwaitEnd(pid_t pid) {
  int status = 0;
  while (waitpid(pid, &status, 0) < 0 && errno == EINTR) {
  }
  return status;
}

}  // namespace base
