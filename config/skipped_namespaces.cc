#include "config/skipped_namespaces.h"

#include <algorithm>
#include <utility>

#include "absl/strings/str_cat.h"
#include "base/status.h"

namespace config {

absl::StatusOr<SkippedNamespaces> SkippedNamespaces::Create(
    const std::vector<std::string>& patterns) {
  SkippedNamespaces skipped;
  for (const std::string& pattern : patterns) {
    absl::StatusOr<base::Regex> compiled = base::Regex::Compile(absl::StrCat("^", pattern, "$"));
    RETURN_IF_ERROR(base::Annotate(compiled.status(), "--skipped-propagating-namespaces"));
    skipped.patterns_.push_back(*std::move(compiled));
  }
  return skipped;
}

bool SkippedNamespaces::Contains(absl::string_view ns) const {
  return std::any_of(patterns_.begin(), patterns_.end(),
                     [ns](const base::Regex& pattern) { return pattern.Finds(ns); });
}

}  // namespace config
