#include "tool/console.h"

#include <unistd.h>

#include <algorithm>
#include <cstdlib>
#include <cstring>
#include <iostream>

#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_format.h"
#include "absl/strings/str_split.h"
#include "base/utf8.h"

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

// Returns whether a terminal obeys the character instead of showing it: controls of ASCII and those
// from U+0080 to U+009F (also as a single byte, which some terminals take for them), what ends a
// line or turns the direction of writing.
bool IsControl(absl::string_view character) {
  const auto byte = [&](size_t i) { return static_cast<unsigned char>(character[i]); };
  if (character.size() == 1) return byte(0) < 0x20 || (byte(0) >= 0x7f && byte(0) <= 0x9f);
  if (character.size() == 2) {
    return (byte(0) == 0xc2 && byte(1) <= 0x9f) || character == "\xd8\x9c";
  }
  if (character.size() != 3 || byte(0) != 0xe2) return false;
  const bool marks = byte(1) == 0x80 && (byte(2) == 0x8e || byte(2) == 0x8f);
  const bool separates_or_embeds = byte(1) == 0x80 && byte(2) >= 0xa8 && byte(2) <= 0xae;
  const bool isolates = byte(1) == 0x81 && byte(2) >= 0xa6 && byte(2) <= 0xa9;
  return marks || separates_or_embeds || isolates;
}

// Returns "\x1b" for one byte, "\u202e" for more.
std::string Escaped(absl::string_view character) {
  if (character == "\n") return "\\n";
  if (character == "\t") return "\\t";
  if (character == "\r") return "\\r";
  const auto byte = [&](size_t i) { return static_cast<unsigned char>(character[i]); };
  const auto low = [&](size_t i) { return byte(i) & 0x3fu; };
  if (character.size() == 1) return absl::StrFormat("\\x%02x", byte(0));
  if (character.size() == 2) return absl::StrFormat("\\u%04x", ((byte(0) & 0x1fu) << 6) + low(1));
  return absl::StrFormat("\\u%04x", ((byte(0) & 0x0fu) << 12) + (low(1) << 6) + low(2));
}

std::string WithoutControls(absl::string_view text, absl::string_view kept) {
  std::string out;
  while (!text.empty()) {
    const absl::string_view next = text.substr(0, std::max<size_t>(base::Utf8Length(text), 1));
    const bool stays = absl::StrContains(kept, next) || !IsControl(next);
    absl::StrAppend(&out, stays ? std::string(next) : Escaped(next));
    text.remove_prefix(next.size());
  }
  return out;
}

}  // namespace

std::string OneLine(absl::string_view text) { return WithoutControls(text, ""); }

std::string Printable(absl::string_view text) { return WithoutControls(text, "\n\t"); }

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
          err_terminal && allowed,
          out_terminal};
}

void ShowProgress(Console& console, absl::string_view text) {
  if (console.shows_progress) console.err << "\r\033[K" << OneLine(text) << std::flush;
}

std::string Count(size_t n, absl::string_view noun) {
  return absl::StrCat(n, " ", noun, n == 1 ? "" : "s");
}

std::string Seconds(absl::Duration d) {
  return absl::StrFormat("%.1f s", absl::ToDoubleSeconds(d));
}

}  // namespace tool
