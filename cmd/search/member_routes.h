// The ways of requests that this server does not answer by itself: to members, and to the control
// plane.
#ifndef CMD_SEARCH_MEMBER_ROUTES_H_
#define CMD_SEARCH_MEMBER_ROUTES_H_

#include <memory>
#include <string>

#include "absl/status/statusor.h"
#include "cmd/search/member_access.h"
#include "kube/kubeconfig/kubeconfig.h"
#include "search/proxy/cluster_forwarders.h"
#include "search/proxy/forwarder.h"
#include "search/proxy/versions.h"

namespace cmd {

// `name` is the server in messages: "cluster member1".
absl::StatusOr<std::shared_ptr<search::Forwarder>> ForwarderTo(
    const std::string& name, const kube::ConnectionConfig& config);

// REQUIRES: `access` outlives the object.
std::unique_ptr<search::ClusterForwarders> MemberRoutes(const MemberAccess& access);

// Reads composite resourceVersions in writes.
search::DecodeVersions VersionDecoder();

}  // namespace cmd

#endif  // CMD_SEARCH_MEMBER_ROUTES_H_
