#include "cmd/sandbox/relays.h"

#include <utility>

#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/strip.h"
#include "api/resources.h"
#include "base/status.h"
#include "kube/kubeconfig/kubeconfig.h"
#include "kube/relay/relay.h"
#include "kube/server/negotiation.h"
#include "sandbox/delegation.h"
#include "sandbox/kinds/api_errors.h"

namespace cmd {

base::HttpResponse NotNow(const std::string& who, const std::string& why) {
  return kube::server::ErrorAnswer(
      sandbox::ToStatus({503, "ServiceUnavailable", absl::StrCat(who, ": ", why), {}}));
}

base::HttpHandler RelayTo(std::shared_ptr<kube::Forwarder> forwarder, std::string prefix,
                          std::string who) {
  return [forwarder = std::move(forwarder), prefix = std::move(prefix), who = std::move(who)](
             const base::HttpRequest& request, std::shared_ptr<base::HttpResponder> responder) {
    kube::RelayOptions options;
    options.path = std::string(absl::StripPrefix(request.target, prefix));
    if (!absl::StartsWith(options.path, "/")) options.path = absl::StrCat("/", options.path);
    for (const auto& [name, value] : request.fields) {
      if (absl::StartsWithIgnoreCase(name, "impersonate-")) {
        options.set_headers.emplace_back(name, value);
      }
    }
    options.head_timeout = absl::InfiniteDuration();
    options.on_error = [who](const absl::Status& error) {
      return NotNow(who, std::string(error.message()));
    };
    kube::Relay(request, std::move(responder), *forwarder, std::move(options));
  };
}

absl::Status ServeClusterProxies(sandbox::Fleet& fleet, const std::string& directory) {
  const kube::Resource& clusters = api::Clusters();
  for (const std::string& name : fleet.member_names()) {
    const std::string kubeconfig = absl::StrCat(directory, "/", name, ".kubeconfig");
    ASSIGN_OR_RETURN(kube::ConnectionConfig connection,
                     kube::LoadConnectionConfig({kubeconfig, ""}));
    connection.ignore_proxy_environment = true;
    ASSIGN_OR_RETURN(auto forwarder, kube::Forwarder::Create(connection));
    const std::string path = absl::StrCat("/apis/", clusters.gvk.ApiVersion(), "/", clusters.plural,
                                          "/", name, "/proxy");
    sandbox::Delegate(fleet.control_plane(), path, RelayTo(std::move(forwarder), path, name));
  }
  return absl::OkStatus();
}

}  // namespace cmd
