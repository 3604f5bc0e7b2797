// Text for people: colours on a terminal, plain text elsewhere.
#ifndef CMD_SANDBOX_TERMINAL_H_
#define CMD_SANDBOX_TERMINAL_H_

#include <ostream>
#include <string>

#include "absl/strings/string_view.h"
#include "absl/time/time.h"

namespace cmd {

class Terminal {
 public:
  enum class Stream { kOutput, kError };
  // Looks at the stream: colours need a terminal that is not "dumb" (TERM), and no NO_COLOR in the
  // environment.
  explicit Terminal(Stream stream = Stream::kOutput);

  // Returns whether a person watches the output.
  bool interactive() const { return interactive_; }
  std::string Bold(absl::string_view text) const { return Styled("1", text); }
  std::string Dim(absl::string_view text) const { return Styled("2", text); }
  std::string Green(absl::string_view text) const { return Styled("32", text); }
  std::string Yellow(absl::string_view text) const { return Styled("33", text); }
  std::string Red(absl::string_view text) const { return Styled("31", text); }

  // Prints one line on the stream at once.
  void Print(absl::string_view line) const;

 private:
  std::string Styled(absl::string_view code, absl::string_view text) const;

  std::ostream& out_;
  bool interactive_ = false;
  bool colours_ = false;
};

// Returns a text such as "0.4 s".
std::string Seconds(absl::Duration d);

}  // namespace cmd

#endif  // CMD_SANDBOX_TERMINAL_H_
