// Runs a program to its end and collects its output.
#ifndef KUBE_KUBECONFIG_INTERNAL_SUBPROCESS_H_
#define KUBE_KUBECONFIG_INTERNAL_SUBPROCESS_H_

#include <cstddef>
#include <string>
#include <utility>
#include <vector>

#include "absl/status/statusor.h"
#include "absl/time/time.h"
#include "base/stop_token.h"

namespace kube {

struct ProgramOptions {
  std::string command;  // Searched in $PATH unless it contains a slash.
  std::vector<std::string> args;
  // Added to, or replacing parts of, this process's environment.
  std::vector<std::pair<std::string, std::string>> env;
  absl::Duration timeout = absl::Seconds(30);
  size_t max_output_bytes = 1 << 20;
};

// Returns what the program wrote to standard output; its standard error is that of this process,
// its standard input empty. kNotFound: there is no such program. kFailedPrecondition: it exited
// with another code than 0 (which is named) or wrote too much. kDeadlineExceeded, kCancelled: it
// and its children were killed.
absl::StatusOr<std::string> RunProgram(const ProgramOptions& options, const base::StopToken& stop);

}  // namespace kube

#endif  // KUBE_KUBECONFIG_INTERNAL_SUBPROCESS_H_
