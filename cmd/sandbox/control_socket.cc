// A connection carries one line with a request and one line with the answer, "ok: ..." or "error
// CODE: ..." with the number of a status code, and ends. One thread accepts and answers one
// connection after the other, so requests never run at the same time. A peer that sends or reads
// nothing for ten seconds is given up, on both sides. The destructor shuts the listener down, which
// ends the thread, and removes the socket; one that a killed run has left is removed by the next
// Listen.

#include "cmd/sandbox/control_socket.h"

#include <fcntl.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/time.h>
#include <sys/un.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>
#include <utility>

#include "absl/strings/numbers.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_split.h"
#include "absl/strings/strip.h"
#include "absl/time/time.h"
#include "base/status.h"
#include "base/threads.h"

namespace cmd {
namespace {

constexpr char kName[] = "control.sock";
constexpr char kOk[] = "ok: ";
constexpr char kError[] = "error ";
constexpr char kColon[] = ": ";
constexpr size_t kMaxLine = 256 << 10;  // A status has some hundred bytes for each member.
constexpr time_t kPatienceSeconds = 10;
constexpr absl::Duration kPause = absl::Milliseconds(100);  // Before it tries to accept again.
constexpr mode_t kOwnerOnly = 0600;

// Closes its descriptor on destruction.
struct Descriptor {
  explicit Descriptor(int fd) : fd(fd) {}
  ~Descriptor() {
    if (fd >= 0) close(fd);
  }
  Descriptor(const Descriptor&) = delete;
  Descriptor& operator=(const Descriptor&) = delete;
  const int fd;
};

// A socket's address holds 107 bytes and directories may have longer names, so the socket is named
// through the open directory.
sockaddr_un AddressIn(const Descriptor& directory) {
  sockaddr_un address = {};
  address.sun_family = AF_UNIX;
  const std::string path = absl::StrCat("/proc/self/fd/", directory.fd, "/", kName);
  std::strncpy(address.sun_path, path.c_str(), sizeof address.sun_path - 1);
  return address;
}

int OpenDirectory(const std::string& path) {
  return open(path.c_str(), O_PATH | O_DIRECTORY | O_CLOEXEC);
}

void LimitWaits(int socket) {
  const timeval limit = {.tv_sec = kPatienceSeconds, .tv_usec = 0};
  setsockopt(socket, SOL_SOCKET, SO_RCVTIMEO, &limit, sizeof limit);
  setsockopt(socket, SOL_SOCKET, SO_SNDTIMEO, &limit, sizeof limit);
}

// Reads up to the end of the line, or until the peer closes or the time is over.
std::string ReadLine(int socket) {
  std::string line;
  while (line.size() < kMaxLine) {
    char byte = 0;
    ssize_t got = 0;
    // A signal ends a call that has a time limit, also one that nobody handles.
    do {
      got = recv(socket, &byte, 1, 0);
    } while (got < 0 && errno == EINTR);
    if (got != 1 || byte == '\n') break;
    line += byte;
  }
  return line;
}

bool WriteLine(int socket, const std::string& text) {
  const std::string line = text + "\n";
  return send(socket, line.data(), line.size(), MSG_NOSIGNAL) == static_cast<ssize_t>(line.size());
}

}  // namespace

absl::StatusOr<std::unique_ptr<ControlSocket>> ControlSocket::Listen(const std::string& directory,
                                                                     Handler handler,
                                                                     const base::Clock& clock) {
  std::unique_ptr<ControlSocket> control(
      new ControlSocket(absl::StrCat(directory, "/", kName), std::move(handler), clock));
  RETURN_IF_ERROR(control->Open(directory));
  control->thread_ =
      base::StartThread("the control socket", [raw = control.get()] { raw->Serve(); });
  return control;
}

absl::Status ControlSocket::Open(const std::string& directory) {
  const auto failed = [this] {
    return absl::ErrnoToStatus(errno, absl::StrCat("listening on ", path_));
  };
  const Descriptor place(OpenDirectory(directory));
  listener_ = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0);
  if (place.fd < 0 || listener_ < 0) return failed();
  unlink(path_.c_str());  // A socket may be left from an earlier run that was killed.
  const sockaddr_un address = AddressIn(place);
  if (bind(listener_, reinterpret_cast<const sockaddr*>(&address), sizeof address) != 0) {
    return failed();
  }
  // Nobody can connect before listen().
  if (chmod(path_.c_str(), kOwnerOnly) != 0 || listen(listener_, SOMAXCONN) != 0) return failed();
  return absl::OkStatus();
}

ControlSocket::~ControlSocket() {
  if (listener_ < 0) return;
  stop_.request_stop();
  shutdown(listener_, SHUT_RDWR);  // Wakes the thread from accept().
  if (thread_.joinable()) thread_.join();
  close(listener_);
  unlink(path_.c_str());
}

void ControlSocket::Serve() {
  while (true) {
    const Descriptor connection(accept4(listener_, nullptr, nullptr, SOCK_CLOEXEC));
    if (connection.fd >= 0) {
      Answer(connection.fd);
    } else if (errno != EINTR && errno != ECONNABORTED) {
      // It was shut down, or the process has no descriptor left, which may pass.
      if (!clock_.SleepFor(kPause, stop_.get_token())) return;
    }
  }
}

void ControlSocket::Answer(int connection) const {
  LimitWaits(connection);
  const absl::StatusOr<std::string> done = handler_(ReadLine(connection));
  WriteLine(connection, done.ok() ? absl::StrCat(kOk, *done)
                                  : absl::StrCat(kError, done.status().raw_code(), kColon,
                                                 done.status().message()));
}

absl::StatusOr<std::string> ControlSocket::Send(const std::string& directory,
                                                const std::string& request) {
  const Descriptor place(OpenDirectory(directory));
  const Descriptor connection(socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0));
  if (connection.fd < 0) return absl::ErrnoToStatus(errno, "making a socket");
  const sockaddr_un address = AddressIn(place);
  if (place.fd < 0 ||
      connect(connection.fd, reinterpret_cast<const sockaddr*>(&address), sizeof address) != 0) {
    if (errno == EACCES) {
      return absl::PermissionDeniedError(absl::StrCat(
          "permission denied in the directory ", directory,
          ": only the user who has started a sandbox can ask it, or take parts of it down"));
    }
    return absl::NotFoundError(absl::StrCat("no sandbox runs in the directory ", directory));
  }
  LimitWaits(connection.fd);
  if (!WriteLine(connection.fd, request)) return absl::UnavailableError("the sandbox has ended");
  const std::string line = ReadLine(connection.fd);
  if (line.empty()) return absl::UnavailableError("the sandbox does not answer");
  absl::string_view answer = line;
  if (absl::ConsumePrefix(&answer, kOk)) return std::string(answer);
  const std::pair<absl::string_view, absl::string_view> error =
      absl::StrSplit(absl::StripPrefix(answer, kError), absl::MaxSplits(kColon, 1));
  int code = 0;
  if (!absl::SimpleAtoi(error.first, &code) || code == 0) {
    return absl::UnknownError(absl::StrCat("the sandbox answers \"", answer, "\""));
  }
  return absl::Status(static_cast<absl::StatusCode>(code), error.second);
}

}  // namespace cmd
