#include "cmd/controller-manager/cluster_config_source.h"

#include "absl/strings/str_cat.h"
#include "api/members/connection.h"
#include "api/resources.h"

namespace cmd {

absl::StatusOr<kube::ConnectionConfig> ClusterConfigSource::ConfigFor(const std::string& cluster) {
  const kube::ObjectPtr object = client_.Find(api::Clusters(), {"", cluster});
  if (object == nullptr)
    return absl::NotFoundError(absl::StrCat("cluster ", cluster, " not found"));
  return members::ConnectionOf(*object, [this](const kube::ObjectKey& secret) {
    return client_.Find(api::Secrets(), secret);
  });
}

}  // namespace cmd
