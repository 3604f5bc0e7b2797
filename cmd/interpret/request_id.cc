#include "cmd/interpret/request_id.h"

#include <algorithm>
#include <cstddef>

#include "base/json.h"

namespace cmd::interpret {
namespace {

constexpr char kBlanks[] = " \t\r\n";

void SkipBlanks(absl::string_view& text) {
  text.remove_prefix(std::min(text.find_first_not_of(kBlanks), text.size()));
}

// Returns how many bytes the string at the beginning takes, with its quotes.
size_t StringSize(absl::string_view text) {
  size_t at = 1;
  while (at < text.size() && text[at] != '"') at += text[at] == '\\' ? 2 : 1;
  return std::min(at + 1, text.size());
}

// Returns how many bytes the value at the beginning takes.
size_t ValueSize(absl::string_view text) {
  size_t depth = 0;
  for (size_t at = 0; at < text.size();) {
    const char c = text[at];
    if (depth == 0 && at > 0 && (c == ',' || c == '}')) return at;
    at += c == '"' ? StringSize(text.substr(at)) : 1;
    if (c == '{' || c == '[') ++depth;
    if ((c == '}' || c == ']') && --depth == 0) return at;
  }
  return text.size();
}

absl::string_view TakeValue(absl::string_view& text) {
  SkipBlanks(text);
  const absl::string_view value = text.substr(0, ValueSize(text));
  text.remove_prefix(value.size());
  return value.substr(0, value.find_last_not_of(kBlanks) + 1);
}

}  // namespace

absl::string_view RequestIdText(absl::string_view request) {
  absl::string_view id = "null";
  SkipBlanks(request);
  while (!request.empty()) {
    request.remove_prefix(1);  // Removes "{" or "," or the last "}".
    SkipBlanks(request);
    if (request.empty() || request[0] != '"') break;
    const absl::string_view name = request.substr(0, StringSize(request));
    request.remove_prefix(name.size());
    SkipBlanks(request);
    if (!request.empty()) request.remove_prefix(1);  // Removes ":".
    const absl::string_view value = TakeValue(request);
    SkipBlanks(request);
    const auto plain = json::Parse(name);
    if (plain.ok() && plain->AsString() == "id") id = value;
  }
  return id;
}

}  // namespace cmd::interpret
