#include "cmd/search/member_routes.h"

#include <utility>

#include "absl/strings/str_cat.h"
#include "base/status.h"
#include "kube/http/forwarder.h"
#include "search/cache/composite_version.h"
#include "search/proxy/relaying_forwarder.h"

namespace cmd {

absl::StatusOr<std::shared_ptr<search::Forwarder>> ForwarderTo(
    const std::string& name, const kube::ConnectionConfig& config) {
  ASSIGN_OR_RETURN(std::shared_ptr<kube::Forwarder> forwarder, kube::Forwarder::Create(config));
  return std::shared_ptr<search::Forwarder>(
      std::make_shared<search::RelayingForwarder>(name, std::move(forwarder)));
}

std::unique_ptr<search::ClusterForwarders> MemberRoutes(const MemberAccess& access) {
  return std::make_unique<search::ClusterForwarders>(search::ClusterForwarders::Parts{
      .cluster = [&access](const std::string& name) { return access.ClusterOf(name); },
      .secret = [&access](const kube::ObjectKey& key) { return access.SecretOf(key); },
      .connection = [&access](const kube::Object& cluster) { return access.ConfigOf(cluster); },
      .create =
          [](const std::string& cluster, const kube::ConnectionConfig& config) {
            return ForwarderTo(absl::StrCat("cluster ", cluster), config);
          }});
}

search::DecodeVersions VersionDecoder() {
  return [](absl::string_view text) -> std::optional<search::MemberVersions> {
    const search::CompositeVersion version = search::CompositeVersion::Parse(text);
    if (version.versions().empty()) return std::nullopt;
    return search::MemberVersions(version.versions().begin(), version.versions().end());
  };
}

}  // namespace cmd
