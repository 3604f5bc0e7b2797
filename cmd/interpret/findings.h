// What an author should repair in a customization, found without an object to run it on.
#ifndef CMD_INTERPRET_FINDINGS_H_
#define CMD_INTERPRET_FINDINGS_H_

#include <string>
#include <vector>

#include "absl/status/status.h"
#include "interpreter/customized/customization.h"
#include "kube/meta/object.h"
#include "lua/script.h"

namespace cmd::interpret {

struct Finding {
  enum class Severity { kError, kWarning } severity = Severity::kError;
  std::string field;    // "spec.customizations.retention.luaScript"; "" when about the whole.
  int script_line = 0;  // Inside the script that `field` is; 0: not about a line of it.
  int column = 0;       // In that line, from 1; 0: look for `token`.
  std::string token;    // What the finding is about, as it is written; "" when nothing special.
  std::string message;
};

// Everything that is wrong with one customization: its fields and target, the syntax of its
// scripts, and of those that compile what CheckScript finds.
std::vector<Finding> CheckCustomization(const kube::Object& object);

// The function that the operation calls: that it is there, under its name, with its parameters; the
// globals: none that the sandbox refuses or does not have, none assigned without need; the modules
// and their members: none that is not there. Runs the script's top level, in the sandbox, since
// that alone shows what it defines; the function itself is not called.
std::vector<Finding> CheckScript(const interpreter::customized::ScriptField& field,
                                 const lua::Script& script);

// The finding that a message of the compiler ("<name>:<line>: ... near '<token>'") makes, with the
// column of the token in `text`.
Finding SyntaxFinding(const std::string& field, absl::string_view message, absl::string_view text);

}  // namespace cmd::interpret

#endif  // CMD_INTERPRET_FINDINGS_H_
