// Runs a program beside this one, and ends it with this one.
#ifndef CMD_SANDBOX_CHILD_PROCESS_H_
#define CMD_SANDBOX_CHILD_PROCESS_H_

#include <sys/types.h>

#include <memory>
#include <optional>
#include <string>
#include <thread>
#include <vector>

#include "absl/base/thread_annotations.h"
#include "absl/status/statusor.h"
#include "absl/synchronization/mutex.h"
#include "absl/time/time.h"

namespace cmd {

class ChildProcess {
 public:
  struct Options {
    std::string program;  // The path of the program.
    std::vector<std::string> arguments;
    std::string log_file;   // The file that gets its output.
    bool keep_log = false;  // True: the output is appended to the file.
  };
  // kNotFound or kPermissionDenied when the program cannot be run. The kernel asks the program to
  // stop when the calling thread ends, so that it does not outlive this process: see
  // ChildLauncher.
  static absl::StatusOr<std::unique_ptr<ChildProcess>> Start(const Options& options);
  // Asks the process to stop, and kills it if it still runs after five seconds.
  ~ChildProcess();
  ChildProcess(const ChildProcess&) = delete;
  ChildProcess& operator=(const ChildProcess&) = delete;

  pid_t pid() const { return pid_; }
  // Returns how it ended ("exited with code 1"); nullopt while it runs.
  std::optional<std::string> Ended();
  // Returns when Ended() first noticed the end; InfiniteFuture until then.
  absl::Time ended_at() const { return ended_at_; }

 private:
  explicit ChildProcess(pid_t pid) : pid_(pid) {}

  const pid_t pid_;
  std::optional<std::string> ended_;
  absl::Time ended_at_ = absl::InfiniteFuture();
};

// Starts processes from a thread that lives as long as this object: they outlive whoever called
// Start. Thread-safe.
class ChildLauncher {
 public:
  ChildLauncher();
  // The processes that it has started are asked to stop.
  ~ChildLauncher();
  ChildLauncher(const ChildLauncher&) = delete;
  ChildLauncher& operator=(const ChildLauncher&) = delete;

  // As ChildProcess::Start.
  absl::StatusOr<std::unique_ptr<ChildProcess>> Start(const ChildProcess::Options& options);

 private:
  struct Job {
    const ChildProcess::Options& options;
    absl::StatusOr<std::unique_ptr<ChildProcess>> result;
    bool done = false;
  };
  void Run();

  absl::Mutex mu_;
  Job* job_ ABSL_GUARDED_BY(mu_) = nullptr;  // What the thread is to do next.
  bool ending_ ABSL_GUARDED_BY(mu_) = false;
  std::thread thread_;
};

}  // namespace cmd

#endif  // CMD_SANDBOX_CHILD_PROCESS_H_
