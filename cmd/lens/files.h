// The objects that a sub-command reads from files, and the clusters that take part.
#ifndef CMD_LENS_FILES_H_
#define CMD_LENS_FILES_H_

#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "lens/plan/plan.h"
#include "tool/console.h"

namespace CLI {
class App;
}

namespace cmd::lens {

struct FileOptions {
  std::vector<std::string> files, base;
  bool recursive = false;
  int clusters = 0;
};

// Adds -f/--filename, -R/--recursive and --clusters.
void AddFileFlags(CLI::App& app, FileOptions& options);

// Reads the files. Without Clusters in them and without --clusters there are three. kNotFound or
// kInvalidArgument when files cannot be read, kNotFound when they contain no object.
absl::StatusOr<::lens::plan::PlanRequest> ReadFiles(const FileOptions& options,
                                                    tool::Console& console);

}  // namespace cmd::lens

#endif  // CMD_LENS_FILES_H_
