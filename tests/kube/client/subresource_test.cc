#include "kube/client/subresource.h"

#include <catch2/catch.hpp>
#include <memory>
#include <string>

#include "tests/kube/client/scripted_transport.h"
#include "tests/support/fake_clock.h"

namespace kube {
namespace {

TEST_CASE("A sub-resource is read with a deadline, which is never longer than the client's") {
  const auto server = std::make_shared<tests::ScriptedTransport>(
      [](const HttpRequest&, int) { return tests::Answer(200, R"({"kind": "Scale"})"); });
  tests::FakeClock clock;
  Client client{server, {.name = "fake", .timeout = absl::Seconds(20)}, clock, nullptr};
  const Resource deployments{{"apps", "v1", "Deployment"}, "deployments", true};
  const ObjectKey key = {"ns", "web"};
  const std::string scale = "scale";
  CHECK(GetSubresource(client, {deployments, key, scale}, {})->kind() == "Scale");
  CHECK(GetSubresource(client, {deployments, key, scale, absl::Seconds(5)}, {}).ok());
  REQUIRE(server->requests().size() == 2);
  CHECK(server->requests()[0].path == "/apis/apps/v1/namespaces/ns/deployments/web/scale");
  CHECK(server->requests()[0].timeout == absl::Seconds(20));
  CHECK(server->requests()[1].timeout == absl::Seconds(5));
}

}  // namespace
}  // namespace kube
