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
  const std::filesystem::directory_iterator entries(directory, error);
  if (error) {
    return absl::UnavailableError(
        absl::StrCat("--clusters-from: ", directory, ": ", error.message()));
  }
  for (const std::filesystem::directory_entry& entry : entries) {
    const std::string name = entry.path().filename().string();
    if (name.empty() || name[0] == '.' || !entry.is_directory(error)) continue;
    ClusterPair pair;
    pair.karmada_kubeconfig = (entry.path() / "karmada-kubeconfig").string();
    pair.kubeconfig = (entry.path() / "kubeconfig").string();
    absl::StatusOr<std::string> content = Usable(name, pair);
    pair.usable = content.status();
    if (content.ok()) pair.content = *std::move(content);
    pairs[name] = std::move(pair);
  }
  return pairs;
}

}  // namespace cmd
