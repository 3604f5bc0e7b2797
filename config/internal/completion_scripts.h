// Scripts by which shells complete the words of a command line.
#ifndef CONFIG_INTERNAL_COMPLETION_SCRIPTS_H_
#define CONFIG_INTERNAL_COMPLETION_SCRIPTS_H_

#include <string>

#include "absl/strings/string_view.h"
#include "config/internal/completion_tree.h"

namespace config::internal {

// The shells of upstream's `completion` command.
inline constexpr char kBash[] = "bash";
inline constexpr char kFish[] = "fish";
inline constexpr char kPowerShell[] = "powershell";
inline constexpr char kZsh[] = "zsh";

// Returns the script for one of these shells. It completes commands, flags, the values of flags
// that take one of a few, and paths. REQUIRES: `shell` is one of them, and `program` a file name.
std::string CompletionScript(const CompletedCommand& root, absl::string_view program,
                             absl::string_view shell);

// Returns how to load the script, for the help.
std::string HowToLoad(absl::string_view program, absl::string_view shell);

}  // namespace config::internal

#endif  // CONFIG_INTERNAL_COMPLETION_SCRIPTS_H_
