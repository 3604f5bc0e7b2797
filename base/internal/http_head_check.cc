#include "base/internal/http_head_check.h"

#include <algorithm>

#include "absl/strings/ascii.h"
#include "absl/strings/match.h"
#include "absl/strings/str_split.h"

namespace base::internal {
namespace {

// How often each header that frames a request has come.
struct Counts {
  int host = 0, content_length = 0, transfer_encoding = 0;
};

bool IsControl(char c) { return absl::ascii_iscntrl(static_cast<unsigned char>(c)) && c != '\t'; }

bool IsNumber(absl::string_view text) {
  return !text.empty() && std::all_of(text.begin(), text.end(), absl::ascii_isdigit);
}

// Counts the header of one line; returns its flaw.
absl::string_view FlawOfLine(absl::string_view line, Counts& counts) {
  if (line[0] == ' ' || line[0] == '\t') return "a header is continued on the next line";
  const size_t colon = line.find(':');
  if (colon == absl::string_view::npos || colon == 0) return "a header has no name";
  const absl::string_view name = line.substr(0, colon);
  if (name.find_first_of(" \t") != absl::string_view::npos) return "a header's name has a space";
  const absl::string_view value = absl::StripAsciiWhitespace(line.substr(colon + 1));
  if (absl::EqualsIgnoreCase(name, "host") && ++counts.host > 1) return "two Host headers";
  if (absl::EqualsIgnoreCase(name, "transfer-encoding")) ++counts.transfer_encoding;
  if (!absl::EqualsIgnoreCase(name, "content-length")) return "";
  ++counts.content_length;
  return IsNumber(value) ? "" : "the Content-Length is not one number";
}

absl::string_view FlawOf(const Counts& counts, bool http10) {
  if (counts.content_length > 1) return "two Content-Length headers";
  if (counts.transfer_encoding > 1) return "two Transfer-Encoding headers";
  if (counts.content_length > 0 && counts.transfer_encoding > 0) {
    return "both Content-Length and Transfer-Encoding";
  }
  if (counts.transfer_encoding > 0 && http10) return "Transfer-Encoding in HTTP/1.0";
  return "";
}

}  // namespace

absl::string_view FlawOf(absl::string_view head) {
  Counts counts;
  bool first = true, http10 = false;
  for (const absl::string_view line : absl::StrSplit(head, "\r\n", absl::SkipEmpty())) {
    if (std::any_of(line.begin(), line.end(), IsControl)) return "a control character";
    if (first) {
      first = false;
      http10 = absl::EndsWith(line, "HTTP/1.0");
      continue;
    }
    const absl::string_view flaw = FlawOfLine(line, counts);
    if (!flaw.empty()) return flaw;
  }
  return FlawOf(counts, http10);
}

}  // namespace base::internal
