// Kinds that the flag --skipped-propagating-apis excludes from propagation.
#ifndef CONFIG_SKIPPED_APIS_H_
#define CONFIG_SKIPPED_APIS_H_

#include <set>
#include <string>
#include <tuple>

#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"

namespace config {

class SkippedApis {
 public:
  // `text` is a semicolon-separated list of group, group/version, or group/version/Kind[,Kind]
  // ("v1/Kind" in the core group). kInvalidArgument names the flag and the bad token.
  static absl::StatusOr<SkippedApis> Parse(absl::string_view text);

  // The core group is named "".
  bool Contains(const std::string& group, const std::string& version,
                const std::string& kind) const;

 private:
  std::set<std::string> groups_;
  std::set<std::tuple<std::string, std::string>> versions_;
  std::set<std::tuple<std::string, std::string, std::string>> kinds_;
};

}  // namespace config

#endif  // CONFIG_SKIPPED_APIS_H_
