// The version of this build.
#ifndef CONFIG_VERSION_H_
#define CONFIG_VERSION_H_

#include <map>
#include <string>

#include "absl/strings/string_view.h"
#include "base/json.h"

namespace config {

// "v0.1.0" on the tag of that name, else as scripts/version.sh describes it.
std::string Version();

// Returns what requests of a program have in User-Agent: "karmada-search/v0.1.0". Servers name the
// manager of fields after its first part.
std::string UserAgent(absl::string_view program);

// Facts about the build; unknown ones are "".
struct BuildInfo {
  std::string version;
  std::string commit;        // The full hash.
  std::string short_commit;  // Its first 9 digits.
  std::string tree;          // "clean" or "dirty"
  std::string date;          // When the commit was made: "2026-11-24T17:11:21Z".
  std::string compiler;      // "gcc 12.2.0"
  std::string platform;      // "linux/amd64"
};
BuildInfo Build();

// Returns the same facts under the names that upstream's version.Info has in JSON.
json::Value VersionInfo();

// Returns the same facts as the labels of upstream's metric karmada_build_info.
std::map<std::string, std::string> BuildLabels();

// Returns the line that `<program> version` prints, in upstream's format.
std::string VersionText(absl::string_view program);

}  // namespace config

#endif  // CONFIG_VERSION_H_
