// Flags that several sub-commands share, with the names that users of kubectl expect.
#ifndef CMD_INTERPRET_FLAGS_H_
#define CMD_INTERPRET_FLAGS_H_

#include <string>
#include <vector>

#include "cmd/interpret/layers.h"

namespace CLI {
class App;
class Option;
}  // namespace CLI

namespace cmd::interpret {

enum class Format { kYaml, kJson };

// Adds a repeatable flag that takes one value each time, so that arguments after it stay arguments.
CLI::Option* AddRepeatable(CLI::App& app, const std::string& names,
                           std::vector<std::string>& values, const std::string& help);

// Adds -f/--filename/--customization, -R/--recursive, and for live objects --kubeconfig, --context,
// -n/--namespace.
void AddInputFlags(CLI::App& app, LayerOptions& options);
// Adds the input flags, --webhook, --no-shipped and --no-native.
void AddLayerFlags(CLI::App& app, LayerOptions& options);

// Refuses numbers of replicas that no object can have: less than 0, or more than a signed 32-bit
// integer holds.
void CheckReplicas(CLI::Option& option);

// Adds -o/--output yaml|json.
void AddFormatFlag(CLI::App& app, Format& format);
// Returns the value in that format, with a line end.
std::string Formatted(const json::Value& value, Format format);

}  // namespace cmd::interpret

#endif  // CMD_INTERPRET_FLAGS_H_
