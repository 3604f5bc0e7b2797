#include "cmd/agent/cluster_pairs.h"

#include <filesystem>
#include <system_error>
#include <utility>

#include "absl/strings/str_cat.h"
#include "base/files.h"
#include "base/status.h"
#include "config/agent_options.h"

namespace cmd {
namespace {

absl::StatusOr<std::string> ReadKubeconfig(const std::filesystem::path& path) {
  ASSIGN_OR_RETURN(std::string text, base::ReadContent(path.string()));
  RETURN_IF_ERROR(ValidateKubeconfigText(text, path.string()));
  return text;
}

absl::Status Read(const std::filesystem::path& folder, ClusterPair& pair) {
  RETURN_IF_ERROR(config::ValidateClusterName(folder.filename().string()));
  ASSIGN_OR_RETURN(pair.karmada_kubeconfig, ReadKubeconfig(folder / kKarmadaKubeconfig));
  ASSIGN_OR_RETURN(pair.kubeconfig, ReadKubeconfig(folder / kKubeconfig));
  return absl::OkStatus();
}

}  // namespace

absl::Status ValidateKubeconfigText(absl::string_view text, absl::string_view what) {
  if (text.empty()) return absl::InvalidArgumentError(absl::StrCat(what, ": it is empty"));
  if (text.size() <= kLongestKubeconfig) return absl::OkStatus();
  return absl::InvalidArgumentError(absl::StrCat(
      what, ": it has ", text.size(), " bytes, and a kubeconfig may have ", kLongestKubeconfig));
}

absl::StatusOr<ClusterPairs> ReadClusterPairs(const std::string& directory) {
  ClusterPairs pairs;
  std::error_code error;
  // A loop over the range would throw where the directory cannot be read on.
  std::filesystem::directory_iterator entry_at(directory, error);
  for (; !error && entry_at != std::filesystem::directory_iterator(); entry_at.increment(error)) {
    const std::filesystem::directory_entry& entry = *entry_at;
    const std::string name = entry.path().filename().string();
    std::error_code unknown;  // An entry that has just been removed is not a cluster.
    if (name.empty() || name[0] == '.' || !entry.is_directory(unknown)) continue;
    ClusterPair& pair = pairs[name];
    pair.usable = Read(entry.path(), pair);
  }
  // A part of the directory must not end the agents of the rest.
  if (error) {
    return absl::UnavailableError(
        absl::StrCat("--clusters-from: ", directory, ": ", error.message()));
  }
  return pairs;
}

}  // namespace cmd
