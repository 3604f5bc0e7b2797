// A program run beside this one, ended with it.
#ifndef CMD_SANDBOX_CHILD_PROCESS_H_
#define CMD_SANDBOX_CHILD_PROCESS_H_

#include <sys/types.h>

#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "absl/status/statusor.h"

namespace cmd {

class ChildProcess {
 public:
  struct Options {
    std::string program;  // A path.
    std::vector<std::string> arguments;
    std::string log_file;   // Gets its output.
    bool keep_log = false;  // What is in the file stays, and the output follows it.
  };
  // kNotFound or kPermissionDenied when the program cannot be run.
  static absl::StatusOr<std::unique_ptr<ChildProcess>> Start(const Options& options);
  // Asks it to stop, and kills it when it has not after five seconds.
  ~ChildProcess();
  ChildProcess(const ChildProcess&) = delete;
  ChildProcess& operator=(const ChildProcess&) = delete;

  pid_t pid() const { return pid_; }
  // How it ended ("exited with code 1"); nullopt while it runs.
  std::optional<std::string> Ended();

 private:
  explicit ChildProcess(pid_t pid) : pid_(pid) {}

  const pid_t pid_;
  std::optional<std::string> ended_;
};

}  // namespace cmd

#endif  // CMD_SANDBOX_CHILD_PROCESS_H_
