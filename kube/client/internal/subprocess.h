// Runs a program to its end and collects what it prints.
#ifndef KUBE_CLIENT_INTERNAL_SUBPROCESS_H_
#define KUBE_CLIENT_INTERNAL_SUBPROCESS_H_

#include <cstddef>
#include <string>
#include <utility>
#include <vector>

#include "absl/status/statusor.h"
#include "absl/time/time.h"
#include "base/stop_token.h"

namespace kube {

struct ProgramOptions {
  std::string command;  // Looked up in $PATH unless it has a slash.
  std::vector<std::string> args;
  // Added to, or replacing parts of, this process's environment.
  std::vector<std::pair<std::string, std::string>> env;
  absl::Duration timeout = absl::Seconds(30);
  size_t max_output_bytes = 1 << 20;
};

// What the program wrote to standard output; its standard error is ours, its standard input empty.
// kNotFound: no such program. kFailedPrecondition: it exited with another code than 0 (named) or
// wrote too much. kDeadlineExceeded, kCancelled: it and its children were killed.
absl::StatusOr<std::string> RunProgram(const ProgramOptions& options, const base::StopToken& stop);

}  // namespace kube

#endif  // KUBE_CLIENT_INTERNAL_SUBPROCESS_H_
