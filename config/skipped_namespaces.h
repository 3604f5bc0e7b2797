// Namespaces that are never propagated: flag --skipped-propagating-namespaces.
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
  // `patterns`: regular expressions between ^ and $, as upstream anchors them. kInvalidArgument
  // names the flag and says what is wrong.
  static absl::StatusOr<SkippedNamespaces> Create(const std::vector<std::string>& patterns);

  bool Contains(absl::string_view ns) const;

 private:
  std::vector<base::Regex> patterns_;
};

}  // namespace config

#endif  // CONFIG_SKIPPED_NAMESPACES_H_
