#include "config/version.h"

#include "absl/strings/str_cat.h"

namespace config {
namespace {

#if defined(__aarch64__)
constexpr char kPlatform[] = "linux/arm64";
#else
constexpr char kPlatform[] = "linux/amd64";
#endif

}  // namespace

std::string Version() { return KM_VERSION; }

BuildInfo Build() {
  const std::string commit = KM_GIT_COMMIT;
  return {.version = Version(),
          .commit = commit,
          .short_commit = commit.substr(0, 9),
          .compiler = absl::StrCat("gcc ", __VERSION__),
          .platform = kPlatform};
}

json::Value VersionInfo() {
  const BuildInfo build = Build();
  return json::Value::Object({{"gitVersion", build.version},
                              {"gitCommit", build.commit},
                              {"gitShortCommit", build.short_commit},
                              {"gitTreeState", ""},
                              {"buildDate", ""},
                              {"goVersion", ""},
                              {"compiler", build.compiler},
                              {"platform", build.platform}});
}

std::string VersionText(absl::string_view program) {
  const BuildInfo build = Build();
  return absl::StrCat(program, " version: version.Info{GitVersion:\"", build.version,
                      "\", GitCommit:\"", build.commit, "\", GitShortCommit:\"", build.short_commit,
                      "\", GitTreeState:\"\", BuildDate:\"\", GoVersion:\"\", ", "Compiler:\"",
                      build.compiler, "\", Platform:\"", build.platform, "\"}\n");
}

}  // namespace config
