#include "kube/meta/internal/field_error.h"

#include "absl/strings/ascii.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_format.h"

namespace kube::internal {
namespace {

// Returns the letter of the two-character escape for c, or 0.
char EscapeLetter(char c) {
  switch (c) {
    case '\a':
      return 'a';
    case '\b':
      return 'b';
    case '\f':
      return 'f';
    case '\n':
      return 'n';
    case '\r':
      return 'r';
    case '\t':
      return 't';
    case '\v':
      return 'v';
    case '"':
    case '\\':
      return c;
    default:
      return 0;
  }
}

}  // namespace

std::string Quote(absl::string_view text) {
  std::string quoted = "\"";
  for (const char c : text) {
    if (const char letter = EscapeLetter(c); letter != 0) {
      quoted.push_back('\\');
      quoted.push_back(letter);
    } else if (absl::ascii_iscntrl(c)) {
      absl::StrAppendFormat(&quoted, "\\x%02x", static_cast<unsigned char>(c));
    } else {
      quoted.push_back(c);
    }
  }
  quoted.push_back('"');
  return quoted;
}

absl::Status InvalidField(absl::string_view field, absl::string_view rendered,
                          absl::string_view detail) {
  return absl::InvalidArgumentError(
      absl::StrCat(field, ": Invalid value: ", rendered, ": ", detail));
}

}  // namespace kube::internal
