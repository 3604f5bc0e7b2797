#include "tool/console.h"

#include <unistd.h>

#include <cstdlib>
#include <cstring>
#include <iostream>

#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_split.h"

namespace tool {
namespace {

// Colours are off when NO_COLOR is set to something (no-color.org), and on a terminal without
// colours.
bool ColoursAllowed() {
  const char* no_color = std::getenv("NO_COLOR");
  const char* terminal = std::getenv("TERM");
  return (no_color == nullptr || *no_color == '\0') && terminal != nullptr && *terminal != '\0' &&
         std::strcmp(terminal, "dumb") != 0;
}

}  // namespace

std::string Colours::Styled(absl::string_view code, absl::string_view text) const {
  return on_ ? absl::StrCat("\033[", code, "m", text, "\033[0m") : std::string(text);
}

std::string Colours::Diff(absl::string_view diff) const {
  if (!on_) return std::string(diff);
  std::string out;
  for (const absl::string_view line : absl::StrSplit(diff, '\n')) {
    if (!out.empty()) out += "\n";
    const bool header = absl::StartsWith(line, "---") || absl::StartsWith(line, "+++");
    absl::StrAppend(&out, header                        ? Bold(line)
                          : absl::StartsWith(line, "-") ? Red(line)
                          : absl::StartsWith(line, "+") ? Green(line)
                                                        : std::string(line));
  }
  return out;
}

Console StandardConsole() {
  const bool out_terminal = isatty(STDOUT_FILENO) == 1;
  const bool err_terminal = isatty(STDERR_FILENO) == 1;
  const bool allowed = ColoursAllowed();
  return {std::cin,
          std::cout,
          std::cerr,
          Colours(out_terminal && allowed),
          Colours(err_terminal && allowed),
          err_terminal && allowed};
}

void ShowProgress(Console& console, absl::string_view text) {
  if (console.shows_progress) console.err << "\r\033[K" << text << std::flush;
}

std::string Count(size_t n, absl::string_view noun) {
  return absl::StrCat(n, " ", noun, n == 1 ? "" : "s");
}

}  // namespace tool
