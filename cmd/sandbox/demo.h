// karmada-sandbox demo: a Deployment and its policy land in three member clusters.
#ifndef CMD_SANDBOX_DEMO_H_
#define CMD_SANDBOX_DEMO_H_

#include "absl/status/status.h"
#include "base/stop_token.h"
#include "cmd/sandbox/options.h"

namespace cmd {

// Runs the demo. On a terminal it blocks until `stop` once everything has landed. kDeadlineExceeded
// names what is missing, kCancelled means that it was stopped before the end.
absl::Status RunDemo(const SandboxOptions& options, const base::StopToken& stop);

}  // namespace cmd

#endif  // CMD_SANDBOX_DEMO_H_
