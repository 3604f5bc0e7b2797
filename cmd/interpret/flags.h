// Flags that several sub-commands share, beside those of tool/flags.h.
#ifndef CMD_INTERPRET_FLAGS_H_
#define CMD_INTERPRET_FLAGS_H_

#include "cmd/interpret/layers.h"
#include "tool/flags.h"

namespace CLI {
class App;
class Option;
}  // namespace CLI

namespace cmd::interpret {

// Adds -f/--filename/--customization, -R/--recursive, --combined-customizations, and for live
// objects --kubeconfig, --context, -n/--namespace.
void AddInputFlags(CLI::App& app, LayerOptions& options);
// Adds the input flags, --webhook, --no-shipped and --no-native.
void AddLayerFlags(CLI::App& app, LayerOptions& options);

// Refuses numbers of replicas that no object can have: less than 0, or more than a signed 32-bit
// integer holds.
void CheckReplicas(CLI::Option& option);

}  // namespace cmd::interpret

#endif  // CMD_INTERPRET_FLAGS_H_
