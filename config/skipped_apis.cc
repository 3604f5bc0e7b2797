#include "config/skipped_apis.h"

#include <vector>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_split.h"

namespace config {

absl::StatusOr<SkippedApis> SkippedApis::Parse(absl::string_view text) {
  SkippedApis skipped;
  for (const absl::string_view token : absl::StrSplit(text, ';', absl::SkipWhitespace())) {
    std::vector<std::string> parts = absl::StrSplit(token, '/');
    if (parts.size() == 2 && parts[0] == "v1") parts.insert(parts.begin(), "");
    if (parts.size() == 1) {
      skipped.groups_.insert(parts[0]);
    } else if (parts.size() == 2) {
      skipped.versions_.emplace(parts[0], parts[1]);
    } else if (parts.size() == 3) {
      for (const absl::string_view kind : absl::StrSplit(parts[2], ',')) {
        skipped.kinds_.emplace(parts[0], parts[1], kind);
      }
    } else {
      return absl::InvalidArgumentError(
          absl::StrCat("--skipped-propagating-apis: \"", token,
                       "\" is neither group, group/version nor group/version/Kind,Kind"));
    }
  }
  return skipped;
}

bool SkippedApis::Contains(const std::string& group, const std::string& version,
                           const std::string& kind) const {
  return groups_.contains(group) || versions_.contains({group, version}) ||
         kinds_.contains({group, version, kind});
}

}  // namespace config
