// Findings with their place in a file, printed as compilers do.
#ifndef CMD_INTERPRET_DIAGNOSTICS_H_
#define CMD_INTERPRET_DIAGNOSTICS_H_

#include <optional>
#include <string>
#include <vector>

#include "absl/strings/string_view.h"
#include "base/json.h"
#include "interpreter/check/findings.h"
#include "tool/console.h"
#include "tool/documents.h"

namespace cmd::interpret {

using interpreter::check::Finding;

struct Diagnostic {
  Finding finding;
  std::string file;
  int line = 0;        // Line in the file, from 1; 0: unknown.
  int column = 0;      // Column in bytes, from 1; 0: unknown.
  std::string source;  // The text of that line; "" when it is unknown.
  // The line of the script, when its place in the file cannot be determined (quoted text, JSON, a
  // live object). Then `source` is that line of the script, and `script_column` the column in it.
  int script_line = 0;
  int script_column = 0;

  // Returns "file:line" as far as it is known, with the line of the script when that is set.
  std::string Place() const;
};

// Finds the place of the field, or of the line in a script that is written as a YAML block.
Diagnostic Locate(const tool::Document& document, Finding finding);

// Returns an error for each name that a map in the document's text has twice: YAML silently uses
// only the last value.
std::vector<Diagnostic> RepeatedNames(const tool::Document& document);

// Finds where an error of a running script came from: the first "<customization>/<field>:<line>:"
// in the message that belongs to the document's customization; nullopt when there is none.
std::optional<Diagnostic> LocateError(const tool::Document& document, absl::string_view message);

// Returns "file:line:column: error: field: message", the line, and a caret below it; ends with a
// newline. A long line is cut to the part around the caret.
std::string Render(const Diagnostic& diagnostic, const tool::Colours& colours);
json::Value ToJson(const Diagnostic& diagnostic);

}  // namespace cmd::interpret

#endif  // CMD_INTERPRET_DIAGNOSTICS_H_
