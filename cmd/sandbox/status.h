// karmada-sandbox status: what runs in a running sandbox, and what answers.
#ifndef CMD_SANDBOX_STATUS_H_
#define CMD_SANDBOX_STATUS_H_

#include <string>

#include "absl/status/status.h"
#include "base/json.h"
#include "cmd/sandbox/options.h"
#include "cmd/sandbox/session.h"
#include "tool/console.h"

namespace cmd {

// Returns {"directory": ..., "controlPlane": {"url", "kubeconfig", "answers"}, "members": [{"name",
// "url", "kubeconfig", "answers", "mode", "joined", "ready", "nodes", "pods", "agent"}],
// "controllerManager": {"state", "pid", "leader", "log", "flags"}, "search": {"state", "pid",
// "log", "url"}}. `mode` is "Push" or "Pull"; members in pull mode alone have "agent": {"state",
// "pid", "log"}. `state` is "running", "down" (stopped by a command), "ended" (by itself) or "none"
// (never started).
json::Value StatusOf(Session& session);

// Returns whether a server accepts connections at this port of the loopback address.
bool Answers(int port);

// Returns the same for people, a line for each part.
std::string StatusText(const json::Value& status, const tool::Colours& colours);

// Asks the sandbox that runs in --dir, or else in the directory of KUBECONFIG, and prints its
// status. kNotFound when none runs there.
absl::Status RunStatus(const SandboxOptions& options);

}  // namespace cmd

#endif  // CMD_SANDBOX_STATUS_H_
