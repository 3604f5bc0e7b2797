#include "cmd/search/connections.h"

#include <catch2/catch.hpp>

#include "tests/support/temp_directory.h"

namespace cmd {
namespace {

// A kubeconfig whose user has these further fields.
constexpr char kKubeconfig[] = R"(
apiVersion: v1
kind: Config
current-context: karmada
contexts: [{name: karmada, context: {cluster: karmada, user: me}}]
clusters: [{name: karmada, cluster: {server: "http://127.0.0.1:1"}}]
users: [{name: me, user: {token: secret, %s}}]
)";

TEST_CASE("a kubeconfig that acts as somebody is refused") {
  const tests::TempDirectory directory;
  for (const char* field : {"as: admin", "as: a, as-groups: [\"system:masters\"]"}) {
    std::string text = kKubeconfig;
    text.replace(text.find("%s"), 2, field);
    SearchOptions options;
    options.kubeconfig = directory.Write("kubeconfig", text);
    const auto connections = Connect(options);
    CAPTURE(connections.status().ToString());
    CHECK_THAT(std::string(connections.status().message()),
               Catch::StartsWith("--kubeconfig: its user acts as a"));
  }
}

}  // namespace
}  // namespace cmd
