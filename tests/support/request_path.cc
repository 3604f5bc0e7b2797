#include "tests/support/request_path.h"

#include <utility>
#include <vector>

#include "absl/strings/escaping.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_split.h"

namespace tests {
namespace {

std::string Unescape(absl::string_view text) {
  std::string out;
  for (size_t i = 0; i < text.size(); ++i) {
    if (text[i] == '%' && i + 2 < text.size()) {
      out += absl::HexStringToBytes(text.substr(i + 1, 2));
      i += 2;
    } else {
      out += text[i] == '+' ? ' ' : text[i];
    }
  }
  return out;
}

}  // namespace

RequestPath RequestPath::Parse(absl::string_view text) {
  RequestPath parsed;
  const std::pair<absl::string_view, absl::string_view> parts =
      absl::StrSplit(text, absl::MaxSplits('?', 1));
  for (const absl::string_view pair : absl::StrSplit(parts.second, '&', absl::SkipEmpty())) {
    const std::pair<absl::string_view, absl::string_view> named =
        absl::StrSplit(pair, absl::MaxSplits('=', 1));
    parsed.query[Unescape(named.first)] = Unescape(named.second);
  }
  std::vector<std::string> path = absl::StrSplit(parts.first, '/', absl::SkipEmpty());
  if (path.size() < 2) return parsed;  // Discovery.
  size_t at = 1;
  if (path[0] == "apis") parsed.collection = absl::StrCat(path[at++], "/");
  absl::StrAppend(&parsed.collection, path[at++], "/");
  if (path.size() > at + 2 && path[at] == "namespaces") {
    parsed.key.ns = Unescape(path[at + 1]);
    at += 2;
  }
  if (at < path.size()) absl::StrAppend(&parsed.collection, path[at++]);
  if (at < path.size()) parsed.key.name = Unescape(path[at++]);
  if (at < path.size()) parsed.subresource = path[at];
  return parsed;
}

std::string RequestPath::Parameter(const std::string& name) const {
  const auto it = query.find(name);
  return it == query.end() ? std::string() : it->second;
}

}  // namespace tests
