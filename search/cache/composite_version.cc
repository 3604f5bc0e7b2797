#include "search/cache/composite_version.h"

#include <algorithm>

#include "absl/strings/escaping.h"
#include "absl/strings/numbers.h"
#include "absl/strings/str_cat.h"
#include "base/json.h"

namespace search {

CompositeVersion CompositeVersion::Parse(absl::string_view text) {
  CompositeVersion version;
  if (text == "0") {
    version.any_ = true;
    return version;
  }
  std::string decoded;
  // Upstream's decoder takes no padding; Abseil's does.
  if (text.empty() || text.back() == '=' || !absl::WebSafeBase64Unescape(text, &decoded)) {
    return version;
  }
  const auto root = json::Parse(decoded);
  if (!root.ok()) return version;
  for (const json::Member& member : root->members()) {
    if (member.value.is_string()) version.Set(member.name(), member.value.AsString());
  }
  return version;
}

std::string CompositeVersion::ToString() const {
  if (any_) return "0";
  if (versions_.empty()) return "";
  std::string text = "{";
  for (const auto& [cluster, version] : versions_) {
    // Written as they are: neither names of clusters nor versions contain what JSON escapes.
    absl::StrAppend(&text, text.size() == 1 ? "" : ",", "\"", cluster, "\":\"", version, "\"");
  }
  text += '}';
  return absl::WebSafeBase64Escape(text);
}

absl::string_view CompositeVersion::Get(absl::string_view cluster) const {
  if (any_) return "0";
  const auto it = versions_.find(cluster);
  return it == versions_.end() ? absl::string_view() : it->second;
}

int64_t CompositeVersion::Number(absl::string_view cluster) const {
  int64_t number = -1;
  return absl::SimpleAtoi(Get(cluster), &number) ? number : -1;
}

void CompositeVersion::Set(absl::string_view cluster, absl::string_view version) {
  any_ = false;
  const auto it = versions_.find(cluster);
  if (version.empty()) {
    if (it != versions_.end()) versions_.erase(it);
  } else if (it != versions_.end()) {
    it->second.assign(version.data(), version.size());
  } else {
    versions_.emplace(std::string(cluster), std::string(version));
  }
}

void CompositeVersion::Set(absl::string_view cluster, int64_t version) {
  Set(cluster, absl::StrCat(version));
}

void CompositeVersion::Set(absl::string_view cluster, int64_t version, int narrowings) {
  Set(cluster, absl::StrCat(std::string(static_cast<size_t>(narrowings), '0'), version));
}

int CompositeVersion::Narrowings(absl::string_view cluster) const {
  const absl::string_view version = Get(cluster);
  // A version that is 0 is all zeros, and counts as having no narrowings.
  const size_t zeros = std::min(version.find_first_not_of('0'), version.size());
  return zeros == version.size() ? 0 : static_cast<int>(zeros);
}

}  // namespace search
