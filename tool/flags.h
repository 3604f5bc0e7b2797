// Flags that several programs have, with the names that users of kubectl expect.
#ifndef TOOL_FLAGS_H_
#define TOOL_FLAGS_H_

#include <string>
#include <vector>

#include "base/json.h"
#include "tool/live_objects.h"

namespace CLI {
class App;
class Option;
}  // namespace CLI

namespace tool {

enum class Format { kYaml, kJson };

// Adds a repeatable flag that takes one value each time, so that arguments after it stay arguments.
CLI::Option* AddRepeatable(CLI::App& app, const std::string& names,
                           std::vector<std::string>& values, const std::string& help);

// Adds --kubeconfig, --context and -n/--namespace, for live objects.
void AddLiveFlags(CLI::App& app, LiveOptions& options);

// Adds -o/--output yaml|json.
void AddFormatFlag(CLI::App& app, Format& format);
// Returns the value in that format, with a line end.
std::string Formatted(const json::Value& value, Format format);

}  // namespace tool

#endif  // TOOL_FLAGS_H_
