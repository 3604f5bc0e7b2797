// What a sub-command reads and writes: the standard streams or those of a test, with colours for
// people.
#ifndef TOOL_CONSOLE_H_
#define TOOL_CONSOLE_H_

#include <istream>
#include <ostream>
#include <string>

#include "absl/strings/string_view.h"
#include "absl/time/time.h"

namespace tool {

// Styles text, or leaves it unchanged.
class Colours {
 public:
  explicit Colours(bool on) : on_(on) {}

  bool on() const { return on_; }
  std::string Bold(absl::string_view text) const { return Styled("1", text); }
  std::string Dim(absl::string_view text) const { return Styled("2", text); }
  std::string Red(absl::string_view text) const { return Styled("31", text); }
  std::string Green(absl::string_view text) const { return Styled("32", text); }
  std::string Yellow(absl::string_view text) const { return Styled("33", text); }
  // Returns a diff with removed lines in red and added ones in green.
  std::string Diff(absl::string_view diff) const;

 private:
  std::string Styled(absl::string_view code, absl::string_view text) const;

  bool on_;
};

// Results go to `out`; messages, traces and progress go to `err`.
struct Console {
  std::istream& in;
  std::ostream& out;
  std::ostream& err;
  Colours out_colours{false};
  Colours err_colours{false};
  bool shows_progress = false;   // True if a person watches `err`.
  bool out_is_terminal = false;  // True if a person reads `out`.
};

// Returns the process's streams, with colours only on terminals that have some (TERM is neither
// empty nor "dumb"), and without when NO_COLOR is set to something.
Console StandardConsole();

// Prints one line on `err` that the next call overwrites; does nothing when nobody watches. ""
// clears the line.
void ShowProgress(Console& console, absl::string_view text);

// Return text from objects, members or files so that a terminal only shows it: control characters,
// and those that end a line or change the direction of writing, are written as "\x1b" or "\u202e".
// OneLine also writes line ends as "\n", so that a message cannot pretend to be a line of its own;
// Printable keeps line ends and tabs.
std::string OneLine(absl::string_view text);
std::string Printable(absl::string_view text);

// Returns "1 case", "2 cases".
std::string Count(size_t n, absl::string_view noun);
// Returns a text such as "0.4 s".
std::string Seconds(absl::Duration d);

}  // namespace tool

#endif  // TOOL_CONSOLE_H_
