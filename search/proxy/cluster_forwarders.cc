#include "search/proxy/cluster_forwarders.h"

#include <utility>

#include "absl/strings/escaping.h"
#include "absl/strings/str_cat.h"
#include "api/cluster.h"
#include "api/resources.h"
#include "base/status.h"
#include "kube/server/api_errors.h"

namespace search {
absl::StatusOr<kube::ConnectionConfig> ClusterForwarders::ConfigOf(
    const std::string& cluster) const {
  const kube::ObjectPtr object = parts_.cluster(cluster);
  if (object == nullptr) {
    return kube::server::NotFound({api::Clusters().gvk.group, api::Clusters().plural}, cluster);
  }
  const kube::ObjectKey reference = api::ClusterView(*object).ImpersonatorSecretRef();
  if (reference.name.empty()) {
    return kube::server::PlainError(
        absl::StrCat("the impersonatorSecretRef of cluster ", cluster, " is nil"));
  }
  const kube::ObjectPtr secret = parts_.secret(reference);
  if (secret == nullptr) {
    return kube::server::PlainError(absl::StrCat("secret \"", reference.name, "\" not found"));
  }
  std::string token;
  const bool is_base64 =
      absl::Base64Unescape(secret->Get({"data", api::kSecretToken}).AsString(), &token);
  if (!is_base64 || token.empty()) {
    return kube::server::PlainError(
        absl::StrCat("the impresonate token of cluster ", cluster, " is empty"));
  }
  absl::StatusOr<kube::ConnectionConfig> config = parts_.connection(*object);
  // Its message names the cluster and the field at fault.
  if (!config.ok()) return kube::server::PlainError(config.status().message());
  config->token = std::move(token);
  return config;
}

absl::StatusOr<std::shared_ptr<Forwarder>> ClusterForwarders::For(const std::string& cluster) {
  ASSIGN_OR_RETURN(kube::ConnectionConfig config, ConfigOf(cluster));
  const absl::MutexLock lock(&mu_);
  Entry& entry = entries_[cluster];
  if (entry.forwarder != nullptr) {
    if (kube::SameConnection(entry.config, config)) return entry.forwarder;
    if (kube::DifferOnlyInToken(entry.config, config) &&
        entry.forwarder->ReplaceToken(config.token)) {
      entry.config = std::move(config);
      return entry.forwarder;
    }
  }
  absl::StatusOr<std::shared_ptr<Forwarder>> created = parts_.create(cluster, config);
  if (!created.ok()) return kube::server::PlainError(created.status().message());
  entry = {std::move(config), *std::move(created)};
  return entry.forwarder;
}

void ClusterForwarders::Forget(const std::string& cluster) {
  const absl::MutexLock lock(&mu_);
  entries_.erase(cluster);
}

}  // namespace search
