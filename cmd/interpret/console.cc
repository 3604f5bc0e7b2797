#include "cmd/interpret/console.h"

#include <unistd.h>

#include <cstdlib>
#include <iostream>

#include "absl/strings/str_cat.h"

namespace cmd::interpret {
namespace {

// no-color.org: set and not empty.
bool ColoursAllowed() {
  const char* no_color = std::getenv("NO_COLOR");
  return no_color == nullptr || *no_color == '\0';
}

}  // namespace

std::string Colours::Styled(absl::string_view code, absl::string_view text) const {
  return on_ ? absl::StrCat("\033[", code, "m", text, "\033[0m") : std::string(text);
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
          err_terminal};
}

void ShowProgress(Console& console, absl::string_view text) {
  if (console.shows_progress) console.err << "\r\033[K" << text << std::flush;
}

std::string Count(size_t n, absl::string_view noun) {
  return absl::StrCat(n, " ", noun, n == 1 ? "" : "s");
}

}  // namespace cmd::interpret
