// Reads objects of members. The first read of a member decides how it is reached: with the
// credentials of its Cluster, else through the proxy of the control plane. Clusters in another
// network can only be reached by the proxy; users who may not read Secrets have only the proxy,
// too. A member that cannot be read by either way is remembered, so that its deadline is waited for
// once. Requests end after ten seconds.

#include "cmd/interpret/member_source.h"

#include <utility>

#include "absl/time/time.h"
#include "api/members/connection.h"
#include "api/resources.h"
#include "base/clock.h"
#include "base/status.h"
#include "base/stop_token.h"
#include "config/version.h"
#include "kube/client/errors.h"
#include "kube/http/http_transport.h"
#include "kube/kubeconfig/kubeconfig.h"

namespace cmd::interpret {
namespace {

constexpr absl::Duration kPatience = absl::Seconds(10);  // For one request.

absl::StatusOr<std::unique_ptr<kube::Client>> ClientOf(const std::string& cluster,
                                                       const kube::ConnectionConfig& config) {
  ASSIGN_OR_RETURN(std::shared_ptr<kube::Transport> transport, kube::NewHttpTransport(config));
  kube::ClientOptions options;
  options.name = cluster;
  options.timeout = kPatience;
  options.user_agent = config::UserAgent("karmada-interpret");
  return std::make_unique<kube::Client>(std::move(transport), std::move(options), base::RealClock(),
                                        nullptr);
}

absl::StatusOr<std::optional<kube::Object>> Read(kube::Client& client,
                                                 const kube::Resource& resource,
                                                 const kube::ObjectKey& key) {
  absl::StatusOr<kube::Object> object = client.Get(resource, key, base::StopToken());
  if (object.ok()) return std::make_optional(*std::move(object));
  // Either answer is certain: the object does not exist, or the member does not serve its kind.
  if (kube::IsGone(object.status()) || kube::IsNoSuchKind(object.status())) {
    return std::optional<kube::Object>();
  }
  return object.status();
}

}  // namespace

absl::StatusOr<std::unique_ptr<kube::Client>> MemberSource::ConnectDirectly(
    const std::string& cluster) {
  ASSIGN_OR_RETURN(const kube::Object object,
                   live_.client.Get(api::Clusters(), {"", cluster}, base::StopToken()));
  absl::Status unread;
  const auto config =
      members::ConnectionOf(object, [&](const kube::ObjectKey& key) -> kube::ObjectPtr {
        auto secret = live_.client.Get(api::Secrets(), key, base::StopToken());
        if (secret.ok()) return kube::Share(*std::move(secret));
        unread = secret.status();
        return nullptr;
      });
  if (!unread.ok()) return unread;
  if (!config.ok()) return config.status();
  return ClientOf(cluster, *config);
}

absl::StatusOr<std::unique_ptr<kube::Client>> MemberSource::ConnectByProxy(
    const std::string& cluster) {
  kube::ConnectionConfig config = live_.config;
  absl::StrAppend(&config.server, "/apis/", api::Clusters().gvk.ApiVersion(), "/",
                  api::Clusters().plural, "/", cluster, "/proxy");
  return ClientOf(cluster, config);
}

absl::StatusOr<std::optional<kube::Object>> MemberSource::First(const std::string& cluster,
                                                                Member& member,
                                                                const kube::Resource& resource,
                                                                const kube::ObjectKey& key) {
  auto direct = ConnectDirectly(cluster);
  absl::Status failed = direct.status();
  if (direct.ok()) {
    auto object = Read(**direct, resource, key);
    if (object.ok()) {
      member.client = *std::move(direct);
      return object;
    }
    failed = object.status();
  }
  auto proxy = ConnectByProxy(cluster);
  if (!proxy.ok()) return failed;
  auto object = Read(**proxy, resource, key);
  // A control plane without the aggregated API server knows no such path, which looks like an
  // object that is not there.
  if (!object.ok() || !object->has_value()) return failed;
  member.client = *std::move(proxy);
  return object;
}

absl::StatusOr<std::optional<kube::Object>> MemberSource::Get(const std::string& cluster,
                                                              const kube::Resource& resource,
                                                              const kube::ObjectKey& key) {
  Member& member = members_[cluster];
  if (!member.unusable.ok()) return member.unusable;
  auto object = member.client == nullptr ? First(cluster, member, resource, key)
                                         : Read(*member.client, resource, key);
  if (!object.ok()) {
    member.unusable = base::Annotate(object.status(), "member ", cluster, " cannot be read");
    return member.unusable;
  }
  return object;
}

}  // namespace cmd::interpret
