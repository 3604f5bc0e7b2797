// karmada-interpret init: writes the beginning of a customization and its test cases.
#ifndef CMD_INTERPRET_INIT_H_
#define CMD_INTERPRET_INIT_H_

#include <string>

#include "absl/status/statusor.h"
#include "kube/meta/names.h"
#include "tool/command.h"

namespace cmd::interpret {

// Declares the sub-command.
void AddInit(tool::CommandLine& line);

// Returns the kind that a user means by "Widget" with an apiVersion, by "Widget.v1.example.io", or
// by the name of a kind that is built in or shipped. kInvalidArgument names what is missing.
absl::StatusOr<kube::Gvk> KindNamed(const std::string& kind, const std::string& api_version);

}  // namespace cmd::interpret

#endif  // CMD_INTERPRET_INIT_H_
