#include "config/version.h"

#include "absl/strings/str_cat.h"

namespace config {

std::string Version() { return KM_VERSION; }

std::string VersionText() {
  return absl::StrCat("karmada-controller-manager version: version.Info{GitVersion:\"", Version(),
                      "\", GitCommit:\"", KM_GIT_COMMIT, "\", GitTreeState:\"\", BuildDate:\"\", ",
                      "GoVersion:\"\", Compiler:\"gcc ", __VERSION__, "\", Platform:\"linux/",
#if defined(__aarch64__)
                      "arm64",
#else
                      "amd64",
#endif
                      "\"}\n");
}

}  // namespace config
