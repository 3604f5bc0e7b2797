// Flags that several sub-commands share, under the names that users of kubectl expect.
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

// A repeatable flag that takes one value each time, so that arguments after it stay arguments.
CLI::Option* AddRepeatable(CLI::App& app, const std::string& names,
                           std::vector<std::string>& values, const std::string& help);

// -f/--filename/--customization, -R/--recursive, and for live objects --kubeconfig, --context,
// -n/--namespace.
void AddInputFlags(CLI::App& app, LayerOptions& options);
// Those, --webhook, --no-shipped and --no-native.
void AddLayerFlags(CLI::App& app, LayerOptions& options);

// Refuses numbers that no object can have as replicas: less than 0, more than 32 bits with a sign.
void CheckReplicas(CLI::Option& option);

// -o/--output yaml|json.
void AddFormatFlag(CLI::App& app, Format& format);
// The value in that format, with a line end.
std::string Formatted(const json::Value& value, Format format);

}  // namespace cmd::interpret

#endif  // CMD_INTERPRET_FLAGS_H_
