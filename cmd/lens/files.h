// The objects that a sub-command reads from files, and the clusters that take part.
#ifndef CMD_LENS_FILES_H_
#define CMD_LENS_FILES_H_

#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "config/options.h"
#include "lens/plan/plan.h"
#include "tool/console.h"

namespace CLI {
class App;
class Option;
}  // namespace CLI

namespace cmd::lens {

struct FileOptions {
  std::vector<std::string> files, base;
  bool recursive = false;
  int clusters = 0;
  std::string crds;
  std::vector<std::string> feature_gates;
  config::Options daemon;
};

// Adds -f/--filename, which is required and returned, -R/--recursive, --clusters, --crds,
// --emulated-karmada-version, and the daemon's flags that decide what becomes of templates.
CLI::Option* AddFileFlags(CLI::App& app, FileOptions& options);

// Reads the files. Without Clusters in them and without --clusters there are three. kNotFound or
// kInvalidArgument when files cannot be read, kNotFound when they contain no object,
// kInvalidArgument when a flag of the daemon has a value that the daemon would refuse. What the
// daemon warns of its flags goes to standard error.
absl::StatusOr<::lens::plan::PlanRequest> ReadFiles(const FileOptions& options,
                                                    tool::Console& console);

}  // namespace cmd::lens

#endif  // CMD_LENS_FILES_H_
