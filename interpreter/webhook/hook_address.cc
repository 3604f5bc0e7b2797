#include "interpreter/webhook/hook_address.h"

#include <algorithm>
#include <string>

#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "base/status.h"
#include "interpreter/webhook/failure.h"

namespace interpreter::webhook {

namespace {

bool HasPort(const kube::Object& service, int port) {
  const auto ports = service.spec()["ports"].items();
  return std::any_of(ports.begin(), ports.end(),
                     [&](const json::Value& p) { return p["port"].AsInt() == port; });
}

absl::Status Unroutable(absl::string_view why) {
  return WithReason(absl::FailedPreconditionError(why), FailureReason::kConfiguration);
}

// Returns the host as apiserver's serviceresolver.ResolveCluster does.
absl::StatusOr<std::string> HostOfService(const kube::Object& service, int port) {
  const absl::string_view type = service.spec()["type"].AsString("ClusterIP");
  if (type == "ExternalName") return service.spec()["externalName"].ToString();
  if (type != "ClusterIP" && type != "LoadBalancer" && type != "NodePort") {
    return Unroutable(absl::StrCat("unsupported service type \"", type, "\""));
  }
  const std::string ip = service.spec()["clusterIP"].ToString();
  if (ip.empty() || ip == "None") {
    return Unroutable(absl::StrCat("cannot route to service with ClusterIP \"", ip, "\""));
  }
  if (!HasPort(service, port)) {
    return Unroutable(
        absl::StrCat("no service port ", port, " found for service \"", service.name(), "\""));
  }
  return absl::StrContains(ip, ':') ? absl::StrCat("[", ip, "]") : ip;
}

}  // namespace

absl::StatusOr<kube::ConnectionConfig> ConnectionTo(const ClientConfig& client,
                                                    const ServiceLookup& services) {
  kube::ConnectionConfig config;
  config.server = client.server;
  config.ca_pem = client.ca_pem;
  if (!client.service.has_value()) return config;

  const ServiceReference& reference = *client.service;
  config.tls_server_name = absl::StrCat(reference.name, ".", reference.ns, ".svc");
  // Environment variables configure proxies for targets outside the cluster only.
  config.ignore_proxy_environment = true;
  std::string host = config.tls_server_name;
  if (services) {
    const auto service = services({reference.ns, reference.name});
    if (!service.ok()) {
      return WithReason(base::Annotate(service.status(), "looking up service ", reference.ns, "/",
                                       reference.name),
                        FailureReason::kServiceLookup);
    }
    if (*service != nullptr) {
      ASSIGN_OR_RETURN(host, HostOfService(**service, reference.port));
    }
  }
  config.server = absl::StrCat("https://", host, ":", reference.port);
  return config;
}

}  // namespace interpreter::webhook
