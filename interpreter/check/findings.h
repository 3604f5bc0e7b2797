// Finds mistakes in a customization without an object to run it on.
#ifndef INTERPRETER_CHECK_FINDINGS_H_
#define INTERPRETER_CHECK_FINDINGS_H_

#include <string>
#include <vector>

#include "absl/status/status.h"
#include "interpreter/customized/customization.h"
#include "interpreter/customized/customization_set.h"
#include "kube/meta/object.h"
#include "lua/script.h"

namespace interpreter::check {

struct Finding {
  enum class Severity { kError, kWarning } severity = Severity::kError;
  // "spec.customizations.retention.luaScript"; "" when it is about the whole object.
  std::string field;
  int script_line = 0;  // A line of the script in `field`, from 1; 0: not about a line.
  int column = 0;       // The column in that line, from 1; 0: search for `token`.
  std::string token;    // The word that the finding is about, as written; may be "".
  std::string message;
  // False: time or memory ran out while the script was looked at, which need not happen elsewhere.
  bool certain = true;

  // Returns "<field>: line 2 of the script: <message>", without what is not known.
  std::string ToString() const;
};

// Returns all mistakes in one customization: in its fields and target, in the syntax of its
// scripts, and those that CheckScript finds in scripts that compile. Additional targets are a
// warning where customizations are not combined. Scripts whose turn comes after `patience` are not
// run, which is a warning, too.
std::vector<Finding> CheckCustomization(const kube::Object& object,
                                        const customized::MergeOptions& merge = {},
                                        absl::Duration patience = absl::InfiniteDuration());

// Checks that the function which the operation calls exists and has the right parameters, that the
// script uses no globals, modules or members that the sandbox refuses or lacks, and that it assigns
// no globals needlessly. Runs the script's top level in the sandbox, since only that shows what it
// defines; the function itself is not called.
std::vector<Finding> CheckScript(const interpreter::customized::ScriptField& field,
                                 const lua::Script& script);

// Returns the finding for a message of the compiler ("<name>:<line>: ... near '<token>'"), with the
// column of the token in `text`.
Finding SyntaxFinding(const std::string& field, absl::string_view message, absl::string_view text);

}  // namespace interpreter::check

#endif  // INTERPRETER_CHECK_FINDINGS_H_
