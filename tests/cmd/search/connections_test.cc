#include "cmd/search/connections.h"

#include <catch2/catch.hpp>
#include <iterator>
#include <string>

#include "absl/strings/str_cat.h"
#include "cmd/search/options.h"
#include "cmd/search/server.h"
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

TEST_CASE("the server starts without a control plane that it need not ask whom to believe") {
  const tests::TempDirectory directory;
  std::string text = kKubeconfig;
  text.replace(text.find(", %s"), 4, "");
  const std::string kubeconfig = absl::StrCat("--kubeconfig=", directory.Write("kubeconfig", text));
  const char* argv[] = {"karmada-search",
                        kubeconfig.c_str(),
                        "--bind-address=127.0.0.1",
                        "--secure-port=0",
                        "--registry-storage=custom-resources",
                        "--authentication-skip-lookup=true"};
  const ParsedSearchFlags parsed = ParseSearchFlags(static_cast<int>(std::size(argv)), argv);
  INFO(parsed.output);
  REQUIRE_FALSE(parsed.exit_code.has_value());
  const auto connections = Connect(parsed.options);
  REQUIRE(connections.ok());
  const auto server = SearchServer::Start(parsed.options, *connections, {});
  INFO(server.status().ToString());
  REQUIRE(server.ok());
  CHECK((*server)->port() > 0);
}

}  // namespace
}  // namespace cmd
