// Colours on terminals, and where there are none.
#include <fcntl.h>
#include <unistd.h>

#include <catch2/catch.hpp>
#include <cstdlib>
#include <string>

#include "tool/console.h"

namespace tool {
namespace {

// Makes standard output a terminal.
class OnTerminal {
 public:
  OnTerminal() : controller_(posix_openpt(O_RDWR | O_NOCTTY)), before_(dup(STDOUT_FILENO)) {
    REQUIRE(controller_ >= 0);
    REQUIRE(grantpt(controller_) == 0);
    REQUIRE(unlockpt(controller_) == 0);
    const int terminal = open(ptsname(controller_), O_RDWR | O_NOCTTY);
    REQUIRE(terminal >= 0);
    REQUIRE(dup2(terminal, STDOUT_FILENO) == STDOUT_FILENO);
    close(terminal);
  }
  ~OnTerminal() {
    dup2(before_, STDOUT_FILENO);
    close(before_);
    close(controller_);
  }

 private:
  const int controller_;
  const int before_;
};

// Returns what a bold word looks like with these settings.
std::string Bold(const char* term, const char* no_color) {
  term == nullptr ? unsetenv("TERM") : setenv("TERM", term, 1);
  no_color == nullptr ? unsetenv("NO_COLOR") : setenv("NO_COLOR", no_color, 1);
  return StandardConsole().out_colours.Bold("x");
}

TEST_CASE("colours are for terminals that have some, unless NO_COLOR is set") {
  std::string coloured, empty, dumb, unnamed, unwanted;
  bool is_terminal = false;
  {
    const OnTerminal on;
    coloured = Bold("xterm", nullptr);
    empty = Bold("xterm", "");
    dumb = Bold("dumb", nullptr);
    unnamed = Bold(nullptr, nullptr);
    unwanted = Bold("xterm", "1");
    is_terminal = StandardConsole().out_is_terminal;
  }
  CHECK(coloured == "\033[1mx\033[0m");
  CHECK(empty == coloured);
  CHECK(dumb == "x");
  CHECK(unnamed == "x");
  CHECK(unwanted == "x");
  CHECK(is_terminal);
}

}  // namespace
}  // namespace tool
