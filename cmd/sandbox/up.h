// karmada-sandbox up: serves until it is stopped.
#ifndef CMD_SANDBOX_UP_H_
#define CMD_SANDBOX_UP_H_

#include <ostream>
#include <string>
#include <vector>

#include "absl/status/status.h"
#include "base/stop_token.h"
#include "cmd/sandbox/options.h"
#include "cmd/sandbox/session.h"
#include "tool/console.h"

namespace cmd {

// Blocks until `stop`; returns OK then.
absl::Status RunUp(const SandboxOptions& options, const base::StopToken& stop);

// Serves the session until `stop`, and reports on `out` when a program beside it ends by itself.
void ServeUntil(const base::StopToken& stop, Session& session, std::ostream& out,
                const tool::Colours& colours);

// Returns the addresses and how to use kubectl with them; `examples` are commands for the control
// plane.
std::string Instructions(Session& session, const tool::Colours& colours,
                         const std::vector<std::string>& examples = {"kubectl get clusters"});

}  // namespace cmd

#endif  // CMD_SANDBOX_UP_H_
