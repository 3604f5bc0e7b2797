// The karmada-controller-manager beside the clusters of a sandbox: it is started, taken down and
// started again.
#ifndef CMD_SANDBOX_DAEMON_H_
#define CMD_SANDBOX_DAEMON_H_

#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "absl/base/thread_annotations.h"
#include "absl/status/status.h"
#include "absl/synchronization/mutex.h"
#include "cmd/sandbox/child_process.h"

namespace cmd {

// Thread-safe.
class Daemon {
 public:
  Daemon(std::vector<std::string> arguments, std::string log_file)
      : arguments_(std::move(arguments)), log_file_(std::move(log_file)) {}

  // Names the program and runs it.
  absl::Status Start(const std::string& program);
  // Runs the program that was started before; OK when it runs. kFailedPrecondition when there never
  // was one. Its log goes on in the same file.
  absl::Status Up();
  // Asks it to end and waits until it has, some seconds at most; OK when it is down.
  absl::Status Down();

  // Returns whether there is a program to run.
  bool exists() const;
  // 0 while it is down.
  pid_t pid() const;
  // How it ended, if it did so by itself ("exited with code 1"); nullopt while it runs, and when
  // Down() ended it.
  std::optional<std::string> EndedByItself();
  const std::string& log_file() const { return log_file_; }
  // The last lines of its output.
  std::string LogTail(size_t lines) const;

 private:
  absl::Status Run(bool first) ABSL_EXCLUSIVE_LOCKS_REQUIRED(mu_);

  const std::vector<std::string> arguments_;
  const std::string log_file_;
  mutable absl::Mutex mu_;
  std::string program_ ABSL_GUARDED_BY(mu_);
  std::unique_ptr<ChildProcess> process_ ABSL_GUARDED_BY(mu_);  // Null while it is down.
};

}  // namespace cmd

#endif  // CMD_SANDBOX_DAEMON_H_
