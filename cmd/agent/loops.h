// The loops of an agent, one line each.
#ifndef CMD_AGENT_LOOPS_H_
#define CMD_AGENT_LOOPS_H_

#include "absl/status/status.h"
#include "config/options.h"
#include "controllers/context/context.h"

namespace cmd {

// Returns whether the flags and gates have the controller of this name run.
bool RunsOnAgent(const char* controller, const config::Options& options);

// Builds the loops that run. Returns the first error and stops there.
absl::Status BuildAgentLoops(const controllers::Context& context);

// Logs which controllers run, and which the flags or a gate turn off.
void LogAgentLoops(const config::Options& options);

}  // namespace cmd

#endif  // CMD_AGENT_LOOPS_H_
