#include "absl/strings/ascii.h"
#include "absl/strings/match.h"
#include "absl/strings/str_split.h"
#include "absl/strings/string_view.h"
#include "base/http_server.h"

namespace base {

absl::string_view HttpRequest::Query(absl::string_view name) const {
  for (const auto& [key, value] : query) {
    if (key == name) return value;
  }
  return "";
}

absl::string_view HttpRequest::Header(absl::string_view name) const {
  const auto it = headers.find(std::string(name));
  return it == headers.end() ? absl::string_view() : absl::string_view(it->second);
}

absl::string_view HttpRequest::UpgradeProtocol() const {
  if (http10) return "";
  for (const absl::string_view token : absl::StrSplit(Header("connection"), ',')) {
    if (absl::EqualsIgnoreCase(absl::StripAsciiWhitespace(token), "upgrade")) {
      return Header("upgrade");
    }
  }
  return "";
}

}  // namespace base
