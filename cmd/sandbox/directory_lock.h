// Keeps two sandboxes from using one directory at the same time.
#ifndef CMD_SANDBOX_DIRECTORY_LOCK_H_
#define CMD_SANDBOX_DIRECTORY_LOCK_H_

#include <string>
#include <utility>

#include "absl/status/statusor.h"

namespace cmd {

// Holds <directory>/karmada-sandbox.lock, which names the process. The kernel releases the lock
// when the process ends in any way, so a file that was left behind does not lock the directory.
class DirectoryLock {
 public:
  // kFailedPrecondition names the process that holds the lock.
  static absl::StatusOr<DirectoryLock> Take(const std::string& directory);
  ~DirectoryLock();
  DirectoryLock(DirectoryLock&& other) noexcept : fd_(std::exchange(other.fd_, -1)) {}
  DirectoryLock& operator=(DirectoryLock&&) = delete;

 private:
  explicit DirectoryLock(int fd) : fd_(fd) {}

  int fd_;
};

}  // namespace cmd

#endif  // CMD_SANDBOX_DIRECTORY_LOCK_H_
