// Runs karmada-interpret in this process: takes a command line, returns exit code and output.
#ifndef TESTS_CMD_INTERPRET_TOOL_H_
#define TESTS_CMD_INTERPRET_TOOL_H_

#include <sstream>
#include <string>
#include <vector>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_replace.h"
#include "cmd/interpret/all_commands.h"
#include "tool/command.h"
#include "tool/console.h"

namespace tests {

struct Ran {
  int code = 0;
  std::string out;
  std::string err;
};

inline Ran RunTool(const std::vector<std::string>& arguments, const std::string& input = "",
                   bool colours = false) {
  std::istringstream in(input);
  std::ostringstream out, err;
  tool::Console console{in, out, err, tool::Colours(colours), tool::Colours(colours)};
  tool::CommandLine line(cmd::interpret::ThisProgram(), "karmada-interpret");
  cmd::interpret::AddAllCommands(line);
  std::vector<const char*> argv = {"karmada-interpret"};
  for (const std::string& argument : arguments) argv.push_back(argument.c_str());
  const int code = line.Run(static_cast<int>(argv.size()), argv.data(), console);
  return {code, out.str(), err.str()};
}

// Returns a customization "widgets" of Widgets with one script, whose lines begin at line 11 and
// column 9.
inline std::string WidgetCustomization(const std::string& field, const std::string& script) {
  return absl::StrCat(R"(apiVersion: config.karmada.io/v1alpha1
kind: ResourceInterpreterCustomization
metadata: {name: widgets}
spec:
  target:
    apiVersion: example.io/v1
    kind: Widget
  customizations:
    )",
                      field, ":\n      luaScript: |\n        ",
                      absl::StrReplaceAll(script, {{"\n", "\n        "}}), "\n");
}

// A customization that only answers InterpretHealth for Widgets.
inline const std::string kWidgetHealth =
    WidgetCustomization("healthInterpretation",
                        R"(function InterpretHealth(observedObj)
  return observedObj.status ~= nil and observedObj.status.ready == true
end)");

// A customization that makes the first member's status the status of a Widget.
inline const std::string kWidgetAggregation =
    WidgetCustomization("statusAggregation",
                        R"(function AggregateStatus(desiredObj, statusItems)
  local names = {}
  for name in pairs(statusItems[1]) do
    names[#names + 1] = name
  end
  table.sort(names)
  desiredObj.status = {seen = table.concat(names, ",")}
  return desiredObj
end)");

inline constexpr char kReadyWidget[] = R"(apiVersion: example.io/v1
kind: Widget
metadata: {name: w, namespace: shop}
status: {ready: true}
)";

inline constexpr char kDeployment[] = R"(apiVersion: apps/v1
kind: Deployment
metadata: {name: web, namespace: shop}
spec:
  replicas: 3
  selector: {matchLabels: {app: web}}
  template:
    metadata: {labels: {app: web}}
    spec:
      containers:
      - name: main
        image: nginx
        resources: {requests: {cpu: 250m}}
)";

}  // namespace tests

#endif  // TESTS_CMD_INTERPRET_TOOL_H_
