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

absl::StatusOr<std::string> Usable(const std::string& name, const ClusterPair& pair) {
  RETURN_IF_ERROR(config::ValidateClusterName(name));
  RETURN_IF_ERROR(base::ReadContent(pair.karmada_kubeconfig).status());
  return base::ReadContent(pair.kubeconfig);
}

}  // namespace

absl::StatusOr<std::map<std::string, ClusterPair>> ReadClusterPairs(const std::string& directory) {
  std::map<std::string, ClusterPair> pairs;
  std::error_code error;
  // A loop over the range would throw where the directory cannot be read on.
  std::filesystem::directory_iterator entry_at(directory, error);
  for (; !error && entry_at != std::filesystem::directory_iterator(); entry_at.increment(error)) {
    const std::filesystem::directory_entry& entry = *entry_at;
    const std::string name = entry.path().filename().string();
    std::error_code unknown;  // An entry that has just been removed is not a cluster.
    if (name.empty() || name[0] == '.' || !entry.is_directory(unknown)) continue;
    ClusterPair pair;
    pair.karmada_kubeconfig = (entry.path() / "karmada-kubeconfig").string();
    pair.kubeconfig = (entry.path() / "kubeconfig").string();
    absl::StatusOr<std::string> content = Usable(name, pair);
    pair.usable = content.status();
    if (content.ok()) pair.content = *std::move(content);
    pairs[name] = std::move(pair);
  }
  // A part of the directory must not end the agents of the rest.
  if (error) {
    return absl::UnavailableError(
        absl::StrCat("--clusters-from: ", directory, ": ", error.message()));
  }
  return pairs;
}

}  // namespace cmd
