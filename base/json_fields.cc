#include "base/json_fields.h"

#include <algorithm>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_split.h"

namespace json {

Fields::Fields(absl::Span<const std::string> paths, absl::string_view prefix) {
  for (const std::string& path : paths) {
    const std::string whole = absl::StrCat(prefix, prefix.empty() ? "" : ".", path);
    Add(std::vector<absl::string_view>(absl::StrSplit(whole, '.')));
  }
}

const Fields* Fields::Find(absl::string_view name) const {
  const auto found = std::find_if(members_.begin(), members_.end(),
                                  [&](const auto& member) { return member.first == name; });
  return found == members_.end() ? nullptr : &found->second;
}

void Fields::Add(absl::Span<const absl::string_view> names) {
  const auto found = std::find_if(members_.begin(), members_.end(), [&](const auto& member) {
    return member.first == names.front();
  });
  const bool is_last = names.size() == 1;
  if (found == members_.end()) {
    members_.emplace_back(std::string(names.front()), Fields());
    if (!is_last) members_.back().second.Add(names.subspan(1));
  } else if (is_last) {
    found->second.members_.clear();
  } else if (!found->second.wants_all()) {
    found->second.Add(names.subspan(1));
  }
}

}  // namespace json
