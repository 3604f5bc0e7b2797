// Findings with their place in a file, as compilers show them.
#ifndef CMD_INTERPRET_DIAGNOSTICS_H_
#define CMD_INTERPRET_DIAGNOSTICS_H_

#include <optional>
#include <string>
#include <vector>

#include "absl/strings/string_view.h"
#include "base/json.h"
#include "cmd/interpret/console.h"
#include "cmd/interpret/documents.h"
#include "cmd/interpret/findings.h"

namespace cmd::interpret {

struct Diagnostic {
  Finding finding;
  std::string file;
  int line = 0;        // In the file, from 1; 0: not known.
  int column = 0;      // The same, in bytes.
  std::string source;  // That line; "" when it is not known.
  // Line of the script, when `line` cannot be its place in the file (quoted text, JSON, a live
  // object). Then `source` is that line of the script, and `script_column` the place in it.
  int script_line = 0;
  int script_column = 0;

  // "file:line" as far as it is known, with the line of the script when that is another one.
  std::string Place() const;
};

// Finds the place: of the field, or of the line inside a script that is written as block text.
Diagnostic Locate(const Document& document, Finding finding);

// The names that a map in the document's text has twice, an error each: only the last value counts,
// and nobody says so.
std::vector<Diagnostic> RepeatedNames(const Document& document);

// Where an error of a script that ran came from: the first "<customization>/<field>:<line>:" in the
// message that is of the document's customization; nullopt when there is none.
std::optional<Diagnostic> LocateError(const Document& document, absl::string_view message);

// "file:line:column: error: field: message", the line, and a caret below it; ends with a newline.
// A line that is too long to read is cut to the part around the caret.
std::string Render(const Diagnostic& diagnostic, const Colours& colours);
json::Value ToJson(const Diagnostic& diagnostic);

}  // namespace cmd::interpret

#endif  // CMD_INTERPRET_DIAGNOSTICS_H_
