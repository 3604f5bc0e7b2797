// Namespaces that the flag --skipped-propagating-namespaces excludes from propagation.
#ifndef CONFIG_SKIPPED_NAMESPACES_H_
#define CONFIG_SKIPPED_NAMESPACES_H_

#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"
#include "base/regex.h"

namespace config {

class SkippedNamespaces {
 public:
  // `patterns` are regular expressions, to be matched between ^ and $ as upstream does.
  // kInvalidArgument names the flag and what is wrong.
  static absl::StatusOr<SkippedNamespaces> Create(const std::vector<std::string>& patterns);

  bool Contains(absl::string_view ns) const;

 private:
  std::vector<base::Regex> patterns_;
};

}  // namespace config

#endif  // CONFIG_SKIPPED_NAMESPACES_H_
