#include "sandbox/definition_files.h"

#include <algorithm>
#include <filesystem>
#include <fstream>
#include <sstream>
#include <utility>
#include <vector>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "base/status.h"
#include "base/yaml.h"
#include "sandbox/sim/kinds.h"
#include "sandbox/sim/writes.h"

namespace sandbox {
namespace {

namespace fs = std::filesystem;

std::vector<fs::path> YamlFilesIn(const fs::path& directory) {
  std::vector<fs::path> files;
  std::error_code error;
  for (const fs::directory_entry& entry : fs::directory_iterator(directory, error)) {
    if (entry.path().extension() == ".yaml") files.push_back(entry.path());
  }
  std::sort(files.begin(), files.end());
  return files;
}

absl::StatusOr<std::string> ReadFile(const fs::path& path) {
  std::ifstream in(path, std::ios::binary);
  std::ostringstream text;
  text << in.rdbuf();
  if (!in) return absl::UnavailableError(absl::StrCat("cannot read ", path.string()));
  return text.str();
}

absl::Status LoadFile(const fs::path& file, Backend& backend) {
  ASSIGN_OR_RETURN(const std::string text, ReadFile(file));
  ASSIGN_OR_RETURN(std::vector<json::Value> documents, yaml::ParseAll(text));
  for (json::Value& document : documents) {
    RETURN_IF_ERROR(EnsureObject(backend, kinds::Definitions().gvr(),
                                 kube::Object(std::move(document))));
  }
  return absl::OkStatus();
}

}  // namespace

absl::StatusOr<std::string> FindDefinitionDirectory(const std::string& wanted) {
  std::vector<std::string> candidates = {wanted};
  std::error_code error;
  const fs::path program = fs::read_symlink("/proc/self/exe", error);
  if (!error) {
    const fs::path home = program.parent_path();
    candidates.push_back((home / "../share/karmada/crds").lexically_normal().string());
    candidates.push_back((home / "../../../config/crds").lexically_normal().string());
  }
  for (const std::string& candidate : candidates) {
    if (!candidate.empty() && !YamlFilesIn(candidate).empty()) return candidate;
  }
  return absl::NotFoundError(absl::StrCat("no custom resource definitions (*.yaml) found in any of ",
                                          absl::StrJoin(candidates, ", ")));
}

absl::Status LoadDefinitions(const std::string& directory, Backend& backend) {
  for (const fs::path& file : YamlFilesIn(directory)) {
    RETURN_IF_ERROR(base::Annotate(LoadFile(file, backend), "loading ", file.string()));
  }
  return absl::OkStatus();
}

}  // namespace sandbox
