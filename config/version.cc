#include "config/version.h"

#include "absl/strings/str_cat.h"
#include "config/internal/build_stamp.h"

namespace config {
namespace internal {

// Weak, so that the definition of the build counts where it is linked.
__attribute__((weak)) BuildStamp Stamp() { return {KM_VERSION, "", "", ""}; }

}  // namespace internal
namespace {

#if defined(__aarch64__)
constexpr char kPlatform[] = "linux/arm64";
#else
constexpr char kPlatform[] = "linux/amd64";
#endif

}  // namespace

std::string Version() { return internal::Stamp().version; }

std::string UserAgent(absl::string_view program) { return absl::StrCat(program, "/", Version()); }

BuildInfo Build() {
  const internal::BuildStamp stamp = internal::Stamp();
  const std::string commit = stamp.commit;
  return {.version = stamp.version,
          .commit = commit,
          .short_commit = commit.substr(0, 9),
          .tree = stamp.tree,
          .date = stamp.date,
          .compiler = absl::StrCat("gcc ", __VERSION__),
          .platform = kPlatform};
}

json::Value VersionInfo() {
  const BuildInfo build = Build();
  return json::Value::Object({{"gitVersion", build.version},
                              {"gitCommit", build.commit},
                              {"gitShortCommit", build.short_commit},
                              {"gitTreeState", build.tree},
                              {"buildDate", build.date},
                              {"goVersion", ""},
                              {"compiler", build.compiler},
                              {"platform", build.platform}});
}

std::map<std::string, std::string> BuildLabels() {
  const BuildInfo build = Build();
  return {{"git_version", build.version},
          {"git_commit", build.commit},
          {"git_short_commit", build.short_commit},
          {"git_tree_state", build.tree},
          {"build_date", build.date},
          {"go_version", ""},
          {"compiler", build.compiler},
          {"platform", build.platform}};
}

std::string VersionText(absl::string_view program) {
  const BuildInfo build = Build();
  return absl::StrCat(program, " version: version.Info{GitVersion:\"", build.version,
                      "\", GitCommit:\"", build.commit, "\", GitShortCommit:\"", build.short_commit,
                      "\", GitTreeState:\"", build.tree, "\", BuildDate:\"", build.date,
                      "\", GoVersion:\"\", Compiler:\"", build.compiler, "\", Platform:\"",
                      build.platform, "\"}\n");
}

}  // namespace config
