// What the registries' scope means for the routing of requests.
#include "cmd/search/cache_scope_view.h"

#include <catch2/catch.hpp>

namespace cmd {
namespace {

const kube::Resource kPods{{"", "v1", "Pod"}, "pods", true};
const kube::Resource kNodes{{"", "v1", "Node"}, "nodes", false};

search::Scope TestScope() {
  search::Scope scope;
  auto limited = std::make_shared<search::ClusterScope>();
  limited->resources[kPods.gvr()] = {kPods, {"a", "b"}, {"registry"}};
  limited->resources[kNodes.gvr()] = {kNodes, {}, {"registry"}};
  auto whole = std::make_shared<search::ClusterScope>();
  whole->resources[kPods.gvr()] = {kPods, {}, {"registry"}};
  scope.clusters = {{"limited", limited}, {"whole", whole}};
  scope.registered = {{kPods.gvr(), kPods}, {kNodes.gvr(), kNodes}};
  return scope;
}

TEST_CASE("the choice of a cluster leads to no namespace that its registries do not name") {
  const search::Scope scope = TestScope();
  const auto registered = [&](const std::string& method, const std::string& path,
                              const std::string& cluster) {
    return IsRegistered(scope, kube::server::ReadRequest(method, path, false), cluster);
  };
  // Without a choice the resource counts: nothing of it is looked for in the control plane.
  CHECK(registered("GET", "/api/v1/namespaces/c/pods/x", ""));
  CHECK_FALSE(registered("GET", "/api/v1/namespaces/c/secrets/x", ""));

  CHECK(registered("GET", "/api/v1/namespaces/a/pods/x/log", "limited"));
  CHECK(registered("POST", "/api/v1/namespaces/b/pods", "limited"));
  CHECK_FALSE(registered("GET", "/api/v1/namespaces/c/pods/x/log", "limited"));
  CHECK_FALSE(registered("POST", "/api/v1/namespaces/c/pods/x/exec", "limited"));
  CHECK_FALSE(registered("POST", "/api/v1/namespaces/c/pods", "limited"));
  CHECK_FALSE(registered("DELETE", "/api/v1/namespaces/c/pods", "limited"));
  CHECK_FALSE(registered("GET", "/api/v1/namespaces/c/pods", "limited"));
  // All namespaces: to read, those that are cached; to change, none.
  CHECK(registered("GET", "/api/v1/pods", "limited"));
  CHECK_FALSE(registered("DELETE", "/api/v1/pods", "limited"));
  CHECK_FALSE(registered("POST", "/api/v1/pods", "limited"));

  CHECK(registered("PUT", "/api/v1/nodes/n", "limited"));
  CHECK_FALSE(registered("PUT", "/api/v1/nodes/n", "whole"));
  CHECK(registered("POST", "/api/v1/namespaces/c/pods", "whole"));
  CHECK(registered("DELETE", "/api/v1/pods", "whole"));
  CHECK_FALSE(registered("GET", "/api/v1/pods", "elsewhere"));
}

search::MirrorSet::TargetStatus Connected() {
  search::MirrorSet::TargetStatus status;
  status.mirror.connected = true;
  return status;
}

TEST_CASE("a mirror is complete when everything of the scope is listed, compared and written") {
  CHECK(StateOfMirror(Connected(), {}).complete);
  const auto is_incomplete = [](const search::MirrorSet::TargetStatus& status) {
    const search::MirrorState state = StateOfMirror(status, {});
    return !state.complete && state.reason == "Mirroring";
  };
  CHECK(is_incomplete({}));
  search::MirrorSet::TargetStatus status = Connected();
  status.mirror.unlisted = 1;
  CHECK(is_incomplete(status));
  status = Connected();
  status.mirror.unreconciled_slices = 1;
  CHECK(is_incomplete(status));
  status = Connected();
  status.mirror.unwritten = 1;
  CHECK(is_incomplete(status));
  status = Connected();
  status.mirror.dead_letters = 1;
  CHECK(StateOfMirror(status, {}).reason == "DocumentsRefused");
  status = Connected();
  status.mirror.retrying = 1;
  status.mirror.retry_reason = "security_exception: no rights";
  CHECK(StateOfMirror(status, {}).reason == "WritesFail");
  CHECK(StateOfMirror(status, {}).message ==
        "writes that failed and are tried again: 1, such as: security_exception: no rights");
}

TEST_CASE("a registry says which of its own addresses are not used, and why") {
  search::MirrorSet::TargetStatus status = Connected();
  status.mirror.cluster_uuid = "u1";
  status.mirror.unused = {{"http://b", "it leads to the OpenSearch cluster u2"}};
  const search::MirrorState state = StateOfMirror(status, {{"http://a", "http://u:p@b/"}, {}});
  CHECK_FALSE(state.complete);
  CHECK(state.reason == "AddressesDiffer");
  CHECK(state.message ==
        "the OpenSearch cluster u1 has all objects; not used are http://b: it leads to the "
        "OpenSearch cluster u2");
  CHECK(StateOfMirror(status, {{"http://a"}, {}}).complete);
  status.mirror.last_error = "down";
  CHECK(StateOfMirror(status, {{"http://a", "http://b"}, {}}).message ==
        "down; not used are http://b: it leads to the OpenSearch cluster u2");
}

}  // namespace
}  // namespace cmd
