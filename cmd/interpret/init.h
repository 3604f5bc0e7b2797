// karmada-interpret init: writes a customization and its cases to begin with.
#ifndef CMD_INTERPRET_INIT_H_
#define CMD_INTERPRET_INIT_H_

#include <string>

#include "absl/status/statusor.h"
#include "cmd/interpret/command.h"
#include "kube/meta/names.h"

namespace cmd::interpret {

// Declares the sub-command.
void AddInit(CommandLine& line);

// The kind that a user means: "Widget" with an apiVersion, or "Widget.v1.example.io", or the name
// of a kind that is built in or shipped. kInvalidArgument says what is missing.
absl::StatusOr<kube::Gvk> KindNamed(const std::string& kind, const std::string& api_version);

}  // namespace cmd::interpret

#endif  // CMD_INTERPRET_INIT_H_
