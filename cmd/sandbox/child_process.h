// Runs a program beside this one, and ends it with this one.
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
    std::string program;  // The path of the program.
    std::vector<std::string> arguments;
    std::string log_file;   // The file that gets its output.
    bool keep_log = false;  // True: the output is appended to the file.
  };
  // kNotFound or kPermissionDenied when the program cannot be run.
  static absl::StatusOr<std::unique_ptr<ChildProcess>> Start(const Options& options);
  // Asks the process to stop, and kills it if it still runs after five seconds.
  ~ChildProcess();
  ChildProcess(const ChildProcess&) = delete;
  ChildProcess& operator=(const ChildProcess&) = delete;

  pid_t pid() const { return pid_; }
  // Returns how it ended ("exited with code 1"); nullopt while it runs.
  std::optional<std::string> Ended();

 private:
  explicit ChildProcess(pid_t pid) : pid_(pid) {}

  const pid_t pid_;
  std::optional<std::string> ended_;
};

}  // namespace cmd

#endif  // CMD_SANDBOX_CHILD_PROCESS_H_
