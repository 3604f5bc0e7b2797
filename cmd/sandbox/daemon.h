// A program beside the clusters of a sandbox, such as the karmada-controller-manager: it can be
// started, stopped and started again.
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
#include "absl/time/time.h"
#include "cmd/sandbox/child_process.h"

namespace cmd {

// Thread-safe.
class Daemon {
 public:
  Daemon(std::vector<std::string> arguments, std::string log_file)
      : arguments_(std::move(arguments)), log_file_(std::move(log_file)) {}

  // Runs the program, and remembers it for Up.
  absl::Status Start(const std::string& program);
  // Runs the program of Start again; OK when it runs. kFailedPrecondition when there was none. Its
  // log continues in the same file.
  absl::Status Up();
  // Asks the program to end and waits until it has, some seconds at most; OK when it does not run.
  absl::Status Down();

  // Returns whether Start has named a program.
  bool exists() const;
  // Returns when the program that ran last was first seen to have ended; InfiniteFuture while it
  // runs, InfinitePast before the first Start.
  absl::Time ended_at() const;
  // Returns 0 while it does not run.
  pid_t pid() const;
  // Returns how it ended, if it did so by itself ("exited with code 1"); nullopt while it runs, and
  // when Down() ended it.
  std::optional<std::string> EndedByItself();
  const std::string& log_file() const { return log_file_; }
  // Returns the last lines of its output.
  std::string LogTail(size_t lines) const;

 private:
  absl::Status Run(bool first) ABSL_EXCLUSIVE_LOCKS_REQUIRED(mu_);

  const std::vector<std::string> arguments_;
  const std::string log_file_;
  ChildLauncher launcher_;  // Up() may be called on a thread that ends sooner than the process.
  mutable absl::Mutex mu_;
  std::string program_ ABSL_GUARDED_BY(mu_);
  std::unique_ptr<ChildProcess> process_ ABSL_GUARDED_BY(mu_);  // Null after Down().
  absl::Time down_at_ ABSL_GUARDED_BY(mu_) = absl::InfinitePast();
};

}  // namespace cmd

#endif  // CMD_SANDBOX_DAEMON_H_
