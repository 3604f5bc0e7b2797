#include "cmd/sandbox/terminal.h"

#include <unistd.h>

#include <cstdlib>
#include <cstring>
#include <iostream>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_format.h"

namespace cmd {
namespace {

// Returns whether the terminal shows escape sequences literally.
bool IsDumb() {
  const char* term = std::getenv("TERM");
  return term != nullptr && std::strcmp(term, "dumb") == 0;
}

// Returns whether the variable has a value; no-color.org wants an empty one to count as not set.
bool IsSet(const char* variable) {
  const char* value = std::getenv(variable);
  return value != nullptr && *value != '\0';
}

}  // namespace

Terminal::Terminal(Stream stream)
    : out_(stream == Stream::kOutput ? std::cout : std::cerr),
      interactive_(isatty(stream == Stream::kOutput ? STDOUT_FILENO : STDERR_FILENO) == 1),
      colours_(interactive_ && !IsSet("NO_COLOR") && !IsDumb()) {}

void Terminal::Print(absl::string_view line) const { out_ << line << std::endl; }

std::string Terminal::Styled(absl::string_view code, absl::string_view text) const {
  return colours_ ? absl::StrCat("\033[", code, "m", text, "\033[0m") : std::string(text);
}

std::string Seconds(absl::Duration d) {
  return absl::StrFormat("%.1f s", absl::ToDoubleSeconds(d));
}

}  // namespace cmd
