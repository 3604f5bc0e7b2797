#include "search/proxy/internal/path_rules.h"

#include <algorithm>

#include "absl/strings/ascii.h"
#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "absl/strings/str_split.h"
#include "base/status.h"
#include "kube/server/api_errors.h"

namespace search {
namespace {

constexpr char kApplicationSegment[] = "proxy";

absl::Status Refused(absl::string_view why) {
  return kube::server::BadRequest(
      absl::StrCat("the path of the proxied request is refused: ", why));
}

int HexDigit(char c) {
  if (c >= '0' && c <= '9') return c - '0';
  const char lower = absl::ascii_tolower(static_cast<unsigned char>(c));
  return lower >= 'a' && lower <= 'f' ? lower - 'a' + 10 : -1;
}

// Returns whether the byte may stand unencoded in a request line.
bool IsPrintable(char c) { return c > 0x20 && c < 0x7f && c != '#' && c != '\\'; }

bool HasControlCharacter(absl::string_view text) {
  return std::any_of(text.begin(), text.end(),
                     [](char c) { return absl::ascii_iscntrl(static_cast<unsigned char>(c)); });
}

// Returns how many segments precede what an application behind the cluster reads; SIZE_MAX when no
// path can get there. REQUIRES: the segments up to there have been checked.
size_t SegmentsBeforeApplication(const std::vector<std::string>& parts) {
  size_t at = 0;
  if (parts.size() > 2 && parts[0] == "api") at = 2;
  if (parts.size() > 3 && parts[0] == "apis") at = 3;
  // The deprecated verbs in the path shift what follows; "proxy" there is served by nobody any
  // more.
  if (at == 0 || parts[at] == "watch" || parts[at] == kApplicationSegment) return SIZE_MAX;
  if (parts[at] == "namespaces" && parts.size() > at + 2) at += 2;
  const bool reached = parts.size() > at + 2 && parts[at + 2] == kApplicationSegment;
  return reached ? at + 3 : SIZE_MAX;
}

absl::Status CheckSegment(absl::string_view segment, bool of_application) {
  for (const absl::string_view part : absl::StrSplit(segment, '/')) {
    if (part != "." && part != "..") continue;
    return Refused(absl::StrCat("the segment \"", segment, "\" names another path"));
  }
  if (HasControlCharacter(segment)) return Refused("it has a control character");
  if (of_application) return absl::OkStatus();
  if (segment.empty()) return Refused("it has an empty segment (two slashes in a row)");
  if (absl::StrContains(segment, '/')) return Refused("it has an encoded slash");
  return absl::OkStatus();
}

}  // namespace

absl::StatusOr<std::string> PercentDecoded(absl::string_view text) {
  std::string out;
  out.reserve(text.size());
  for (size_t i = 0; i < text.size(); ++i) {
    if (text[i] != '%') {
      out.push_back(text[i]);
      continue;
    }
    const int high = i + 2 < text.size() ? HexDigit(text[i + 1]) : -1;
    const int low = high >= 0 ? HexDigit(text[i + 2]) : -1;
    if (low < 0) return Refused("it has a percent sign that begins no encoded byte");
    out.push_back(static_cast<char>(high * 16 + low));
    i += 2;
  }
  return out;
}

absl::Status CheckPath(absl::string_view path) {
  if (path.empty() || path[0] != '/') return Refused("it does not begin with a slash");
  if (!std::all_of(path.begin(), path.end(), IsPrintable)) {
    return Refused("it has a character that has to be percent-encoded");
  }
  path.remove_prefix(1);
  if (path.empty()) return absl::OkStatus();
  if (path.size() > 1 && absl::EndsWith(path, "/")) path.remove_suffix(1);
  std::vector<std::string> before;
  size_t of_application = SIZE_MAX;
  for (const absl::string_view raw : absl::StrSplit(path, '/')) {
    ASSIGN_OR_RETURN(std::string segment, PercentDecoded(raw));
    RETURN_IF_ERROR(CheckSegment(segment, before.size() >= of_application));
    before.push_back(std::move(segment));
    if (of_application == SIZE_MAX) of_application = SegmentsBeforeApplication(before);
  }
  return absl::OkStatus();
}

absl::StatusOr<std::pair<std::string, std::vector<std::string>>> WithoutParameter(
    absl::string_view query, absl::string_view name) {
  std::vector<absl::string_view> kept;
  std::vector<std::string> values;
  for (const absl::string_view item : absl::StrSplit(query, '&', absl::SkipEmpty())) {
    const std::pair<absl::string_view, absl::string_view> pair =
        absl::StrSplit(item, absl::MaxSplits('=', 1));
    if (const auto key = PercentDecoded(pair.first); !key.ok() || *key != name) {
      kept.push_back(item);
      continue;
    }
    ASSIGN_OR_RETURN(std::string value, PercentDecoded(pair.second));
    values.push_back(std::move(value));
  }
  // A query without the parameter stays as it is, byte for byte.
  if (values.empty()) return std::make_pair(std::string(query), std::move(values));
  return std::make_pair(absl::StrJoin(kept, "&"), std::move(values));
}

}  // namespace search
