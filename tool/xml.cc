#include "tool/xml.h"

#include "absl/strings/ascii.h"
#include "absl/strings/str_replace.h"
#include "base/json.h"

namespace tool {
namespace {

// Returns text that XML can hold: names of files and results of scripts may not be UTF-8.
std::string Characters(absl::string_view text) {
  // JSON's writer replaces each byte that is not UTF-8 by U+FFFD; XML refuses two more characters.
  const json::Value whole = json::Parse(json::Write(json::Value(text))).value_or(json::Value());
  return absl::StrReplaceAll(whole.AsString(),
                             {{"\xef\xbf\xbe", "\xef\xbf\xbd"}, {"\xef\xbf\xbf", "\xef\xbf\xbd"}});
}

}  // namespace

std::string XmlText(absl::string_view text) {
  std::string out;
  for (const char c : Characters(text)) {
    switch (c) {
      case '&':
        out += "&amp;";
        break;
      case '<':
        out += "&lt;";
        break;
      case '>':
        out += "&gt;";
        break;
      case '"':
        out += "&quot;";
        break;
      default:
        // XML 1.0 cannot represent the other control characters.
        if (absl::ascii_iscntrl(c) && c != '\n' && c != '\t') {
          out += '?';
        } else {
          out += c;
        }
    }
  }
  return out;
}

}  // namespace tool
