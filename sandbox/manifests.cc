#include "sandbox/manifests.h"

#include <algorithm>
#include <filesystem>
#include <map>
#include <utility>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "base/files.h"
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

absl::Status AppendFile(const fs::path& file, std::vector<kube::Object>& out) {
  ASSIGN_OR_RETURN(const std::string text, base::ReadFile(file));
  auto documents = yaml::ParseAll(text);
  if (!documents.ok()) return base::Annotate(documents.status(), file.string());
  for (json::Value& document : *documents) out.emplace_back(std::move(document));
  return absl::OkStatus();
}

}  // namespace

absl::StatusOr<std::string> FindManifests(const ManifestPlace& place) {
  if (!place.wanted.empty()) {
    if (!YamlFilesIn(place.wanted).empty()) return place.wanted;
    return absl::NotFoundError(absl::StrCat("there are no *.yaml files in ", place.wanted));
  }
  std::vector<std::string> candidates;
  std::error_code error;
  const fs::path program = fs::read_symlink("/proc/self/exe", error);
  if (!error) {
    const fs::path home = program.parent_path();
    candidates.push_back((home / "../share/karmada" / place.name).lexically_normal().string());
    candidates.push_back((home / "../../../config" / place.name).lexically_normal().string());
  }
  candidates.push_back(absl::StrCat("config/", place.name));
  for (const std::string& candidate : candidates) {
    if (!YamlFilesIn(candidate).empty()) return candidate;
  }
  return absl::NotFoundError(
      absl::StrCat("there are no *.yaml files in any of ", absl::StrJoin(candidates, ", "),
                   "; give ", place.flag, " the directory config/", place.name,
                   " of the source tree, or install the program with make ",
                   "install, which puts them into share/karmada/", place.name));
}

absl::StatusOr<std::vector<kube::Object>> ReadManifests(const std::string& directory,
                                                        const std::string& instead) {
  std::map<std::string, fs::path> files;
  for (const fs::path& file : YamlFilesIn(directory)) files[file.filename()] = file;
  for (const fs::path& file : YamlFilesIn(instead)) files[file.filename()] = file;
  std::vector<kube::Object> objects;
  for (const auto& [name, file] : files) RETURN_IF_ERROR(AppendFile(file, objects));
  return objects;
}

absl::Status LoadDefinitions(const std::string& directory, std::vector<kube::Object> definitions,
                             Backend& backend) {
  for (kube::Object& definition : definitions) {
    const std::string what = definition.Describe();
    RETURN_IF_ERROR(
        base::Annotate(EnsureObject(backend, kinds::Definitions().gvr(), std::move(definition)),
                       "loading ", what, " from ", directory));
  }
  return absl::OkStatus();
}

}  // namespace sandbox
