#include "cmd/sandbox/directory_lock.h"

#include <fcntl.h>
#include <sys/file.h>
#include <unistd.h>

#include <cerrno>

#include "absl/strings/ascii.h"
#include "absl/strings/str_cat.h"

namespace cmd {
namespace {

constexpr mode_t kOwnerOnly = 0600;

std::string HolderOf(int fd) {
  char text[32];
  const ssize_t count = pread(fd, text, sizeof text, 0);
  const std::string pid(
      absl::StripAsciiWhitespace({text, count > 0 ? static_cast<size_t>(count) : 0}));
  return pid.empty() ? "" : absl::StrCat(" (process ", pid, ")");
}

}  // namespace

absl::StatusOr<DirectoryLock> DirectoryLock::Take(const std::string& directory) {
  const std::string path = absl::StrCat(directory, "/karmada-sandbox.lock");
  DirectoryLock lock(open(path.c_str(), O_RDWR | O_CREAT | O_CLOEXEC, kOwnerOnly));
  if (lock.fd_ < 0) {
    return absl::ErrnoToStatus(
        errno, absl::StrCat("the directory ", directory, " cannot be used: opening ", path));
  }
  if (flock(lock.fd_, LOCK_EX | LOCK_NB) != 0) {
    if (errno != EWOULDBLOCK) return absl::ErrnoToStatus(errno, absl::StrCat("locking ", path));
    return absl::FailedPreconditionError(
        absl::StrCat("the directory ", directory, " is in use by another karmada-sandbox",
                     HolderOf(lock.fd_), "; stop it first, or choose another --dir"));
  }
  const std::string pid = absl::StrCat(getpid(), "\n");
  if (ftruncate(lock.fd_, 0) != 0 ||
      pwrite(lock.fd_, pid.data(), pid.size(), 0) != static_cast<ssize_t>(pid.size())) {
    return absl::ErrnoToStatus(errno, absl::StrCat("writing ", path));
  }
  return lock;
}

DirectoryLock::~DirectoryLock() {
  if (fd_ >= 0) close(fd_);
}

}  // namespace cmd
