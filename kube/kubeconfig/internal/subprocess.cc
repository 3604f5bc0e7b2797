// The program is started in a process group of its own, with an empty standard input, default
// signals and no descriptors but the three standard ones. Collect then waits in poll() for three
// things: its output, its end (a pidfd) and the stop (an eventfd). Output is read first, so that
// everything that was written before the end is read. If the wait ends early, by the deadline, the
// stop or too much output, Child is destroyed, which kills the whole group and reaps the program.
// Output that the program's own children write after its end is not read.

#include "kube/kubeconfig/internal/subprocess.h"

#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <sys/eventfd.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <map>
#include <optional>

#include "absl/status/status.h"
#include "absl/strings/str_cat.h"
#include "base/child_program.h"
#include "base/clock.h"
#include "base/status.h"
#include "base/tls.h"

namespace kube {
namespace {

class Fd {
 public:
  Fd() = default;
  explicit Fd(int fd) : fd_(fd) {}
  Fd(Fd&& other) noexcept : fd_(std::exchange(other.fd_, -1)) {}
  Fd& operator=(Fd&& other) noexcept {
    std::swap(fd_, other.fd_);
    return *this;
  }
  ~Fd() {
    if (fd_ >= 0) close(fd_);
  }
  int get() const { return fd_; }

 private:
  int fd_ = -1;
};

absl::Status ErrnoError(absl::string_view what, int error) {
  return absl::UnavailableError(absl::StrCat(what, ": ", std::strerror(error)));
}

using Variables = std::map<std::string, std::string>;

void Restore(Variables& variables, const char* name, const std::optional<std::string>& value) {
  variables.erase(name);
  if (value.has_value()) variables[name] = *value;
}

// Returns "NAME=value" entries of this process's environment with the program's changes.
std::vector<std::string> Environment(const ProgramOptions& options) {
  Variables variables;
  for (char** entry = environ; *entry != nullptr; ++entry) {
    const char* equals = std::strchr(*entry, '=');
    if (equals != nullptr) variables[std::string(*entry, equals - *entry)] = equals + 1;
  }
  // The variables that this process sets for OpenSSL are not meant for the program.
  const tls::SystemBundleVariables bundle = tls::OriginalSystemBundleVariables();
  Restore(variables, "SSL_CERT_FILE", bundle.file);
  Restore(variables, "SSL_CERT_DIR", bundle.directory);
  for (const auto& [name, value] : options.env) variables[name] = value;
  std::vector<std::string> out;
  for (const auto& [name, value] : variables) out.push_back(absl::StrCat(name, "=", value));
  return out;
}

// A child in a process group of its own; on destruction the group is killed and the child reaped.
class Child {
 public:
  static absl::StatusOr<Child> Spawn(const ProgramOptions& options, int stdout_fd);
  Child(Child&& other) noexcept
      : pid_(std::exchange(other.pid_, -1)), pidfd_(std::move(other.pidfd_)) {}
  ~Child() {
    if (pid_ < 0) return;
    kill(-pid_, SIGKILL);
    base::AwaitEnd(pid_);
  }

  int pidfd() const { return pidfd_.get(); }  // Readable once the child has ended.

  // REQUIRES: the child has ended. OK for exit code 0.
  absl::Status Reap() {
    const int code = base::AwaitEnd(std::exchange(pid_, -1));
    if (WIFSIGNALED(code)) {
      return absl::FailedPreconditionError(absl::StrCat("killed by signal ", WTERMSIG(code)));
    }
    if (WEXITSTATUS(code) == 0) return absl::OkStatus();
    return absl::FailedPreconditionError(absl::StrCat("exit code ", WEXITSTATUS(code)));
  }

 private:
  explicit Child(pid_t pid)
      : pid_(pid), pidfd_(static_cast<int>(syscall(SYS_pidfd_open, pid, 0))) {}

  pid_t pid_;
  Fd pidfd_;
};

absl::StatusOr<Child> Child::Spawn(const ProgramOptions& options, int stdout_fd) {
  const absl::StatusOr<pid_t> pid = base::StartProgram({.program = options.command,
                                                        .arguments = options.args,
                                                        .environment = Environment(options),
                                                        .output = stdout_fd});
  if (absl::IsNotFound(pid.status())) return absl::NotFoundError("no such program");
  if (!pid.ok()) {
    return absl::UnavailableError(absl::StrCat("cannot be started: ", pid.status().message()));
  }
  Child child(*pid);
  if (child.pidfd() < 0) return ErrnoError("cannot be watched", errno);
  return child;
}

// Appends what can be read now; returns false at the end of the output.
absl::StatusOr<bool> ReadSome(int fd, size_t max_bytes, std::string& output) {
  char block[4096];
  const ssize_t got = read(fd, block, sizeof block);
  if (got < 0 && (errno == EINTR || errno == EAGAIN)) return true;
  if (got < 0) return ErrnoError("reading its output", errno);
  output.append(block, got);
  if (output.size() > max_bytes) {
    return absl::FailedPreconditionError(absl::StrCat("wrote more than ", max_bytes, " bytes"));
  }
  return got > 0;
}

// Reads until the child has ended and its output is read; output of its own children after that is
// ignored.
absl::StatusOr<std::string> Collect(const ProgramOptions& options, Child& child, int out,
                                    int stop) {
  const base::SteadyTime deadline = base::RealClock().SteadyNow() + options.timeout;
  std::string output;
  bool open = true;
  while (true) {
    pollfd fds[] = {{open ? out : -1, POLLIN, 0}, {child.pidfd(), POLLIN, 0}, {stop, POLLIN, 0}};
    const auto left = absl::ToInt64Milliseconds(deadline - base::RealClock().SteadyNow());
    if (left <= 0) {
      return absl::DeadlineExceededError(
          absl::StrCat("no end after ", absl::FormatDuration(options.timeout)));
    }
    const int ready = poll(fds, 3, static_cast<int>(left) + 1);
    if (ready < 0 && errno != EINTR) return ErrnoError("waiting for it", errno);
    if (ready <= 0) continue;
    if (fds[2].revents != 0) return absl::CancelledError("stopped");
    if (fds[0].revents != 0) {
      ASSIGN_OR_RETURN(open, ReadSome(out, options.max_output_bytes, output));
      continue;
    }
    if (fds[1].revents != 0) {
      RETURN_IF_ERROR(child.Reap());
      return output;
    }
  }
}

}  // namespace

absl::StatusOr<std::string> RunProgram(const ProgramOptions& options, const base::StopToken& stop) {
  int ends[2];
  if (pipe2(ends, O_CLOEXEC) != 0) return ErrnoError("pipe", errno);
  const Fd out(ends[0]);
  Fd in(ends[1]);
  const Fd stop_event(eventfd(0, EFD_CLOEXEC));
  if (stop_event.get() < 0) return ErrnoError("eventfd", errno);
  auto child = Child::Spawn(options, in.get());
  RETURN_IF_ERROR(child.status());
  in = Fd();  // Closes this process's end; the child's copy keeps the pipe open.
  const base::StopCallback wake(stop, [&] { eventfd_write(stop_event.get(), 1); });
  return Collect(options, *child, out.get(), stop_event.get());
}

}  // namespace kube
