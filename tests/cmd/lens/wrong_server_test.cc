// What karmada-lens says of a server that is no control plane, or does not answer, and how objects
// may be named.
#include <catch2/catch.hpp>
#include <cstdlib>
#include <memory>
#include <mutex>
#include <string>
#include <vector>

#include "absl/strings/str_cat.h"
#include "base/http_server.h"
#include "sandbox/fleet.h"
#include "tests/cmd/lens/tool.h"
#include "tests/support/temp_directory.h"
#include "tool/live_objects.h"

namespace tests {
namespace {

using Catch::Contains;

constexpr char kWeb[] = R"(
apiVersion: apps/v1
kind: Deployment
metadata: {name: web, namespace: shop}
spec:
  selector: {matchLabels: {app: web}}
  template: {metadata: {labels: {app: web}}, spec: {containers: [{name: main, image: nginx}]}}
)";

struct Plane {
  std::unique_ptr<sandbox::Fleet> fleet = *sandbox::Fleet::Start(
      {.members = 1, .with_scheduler = false, .crd_directory = "config/crds"});
  TempDirectory directory;
  std::string kubeconfig = directory.path() + "/karmada.kubeconfig";
  std::string member = directory.path() + "/member1.kubeconfig";

  Plane() { REQUIRE(fleet->WriteKubeconfigs(directory.path()).ok()); }
};

// Takes requests and answers none.
struct HungServer {
  std::mutex mu;
  std::vector<std::shared_ptr<base::HttpResponder>> waiting;
  std::unique_ptr<base::HttpServer> server = *base::HttpServer::Start(
      {.address = "127.0.0.1:0"},
      [this](const base::HttpRequest&, std::shared_ptr<base::HttpResponder> responder) {
        const std::lock_guard<std::mutex> lock(mu);
        waiting.push_back(std::move(responder));
      });
  TempDirectory directory;
  std::string kubeconfig = directory.Write("hung.config", absl::StrCat(R"(
apiVersion: v1
kind: Config
current-context: c
clusters: [{name: c, cluster: {server: "http://127.0.0.1:)",
                                                                       server->port(), R"("}}]
contexts: [{name: c, context: {cluster: c, user: u}}]
users: [{name: u, user: {}}]
)"));
};

}  // namespace

TEST_CASE_METHOD(Plane, "Lens: nothing is concluded from what a member has") {
  const std::string files = directory.Write("web.yaml", kWeb);
  for (const std::vector<std::string>& words : {std::vector<std::string>{"why", "deploy/web"},
                                                {"why", "multiclusterservice/web"},
                                                {"plan", "-f", files}}) {
    std::vector<std::string> with = words;
    with.insert(with.end(), {"--kubeconfig", member});
    const Ran ran = RunLens(with);
    CHECK(ran.code == 1);
    CHECK(ran.out.empty());
    CHECK_THAT(ran.err, Contains("is not a Karmada control plane") && Contains("or a member"));
  }
}

TEST_CASE_METHOD(Plane, "Lens why: KIND NAME is KIND/NAME, and an advice is a sentence") {
  const Ran ran = RunLens({"why", "deployment", "web", "--kubeconfig", kubeconfig});
  CHECK(ran.code == 2);
  CHECK_THAT(ran.out, Contains("There is no Deployment default/web in the control plane."));
  const Ran unknown =
      RunLens({"why", "deployment/web", "--cluster", "nope", "--kubeconfig", kubeconfig});
  CHECK_THAT(unknown.out, Contains("What to do: See kubectl get clusters for"));
  CHECK(RunLens({"why", "deployment/web", "api", "--kubeconfig", kubeconfig}).code == 1);
}

TEST_CASE_METHOD(Plane, "Lens why: an object of Karmada's own is shown with its conditions") {
  const Ran ran = RunLens({"why", "cluster/member1", "--kubeconfig", kubeconfig});
  INFO(ran.out << ran.err);
  CHECK_THAT(ran.out, Contains("\n├─ conditions") || Contains("\n└─ conditions"));
  CHECK_THAT(ran.out, !Contains("policy") && !Contains("binding:") && !Contains("What to do: Put"));
}

TEST_CASE("Lens: a server that does not answer is given up with its name and the kubeconfig") {
  const HungServer hung;
  const tool::LiveOptions options{.first_answer = absl::Milliseconds(300)};
  REQUIRE(setenv("KUBECONFIG", hung.kubeconfig.c_str(), 1) == 0);
  const auto connected = tool::Connect(options);
  unsetenv("KUBECONFIG");
  CHECK(absl::IsDeadlineExceeded(connected.status()));
  CHECK_THAT(std::string(connected.status().message()),
             Contains(absl::StrCat("127.0.0.1:", hung.server->port())) &&
                 Contains(absl::StrCat("kubeconfig ", hung.kubeconfig, " of $KUBECONFIG")) &&
                 Contains("has not answered within 300ms"));
}

TEST_CASE("Lens graph: an object of files is called as for kubectl") {
  const TempDirectory directory;
  const std::string files = directory.Write("web.yaml", absl::StrCat(kWeb, R"(---
apiVersion: example.io/v1
kind: Widget
metadata: {name: one, namespace: shop}
)"));
  for (const std::string name : {"deploy/web", "deployments.apps/web", "deployment.v1.apps/web",
                                 "Deployment/web", "widgets/one", "widgets.example.io/one"}) {
    const Ran ran = RunLens({"graph", "-f", files, name});
    INFO(name << ": " << ran.err);
    CHECK(ran.code == 0);
    CHECK_THAT(ran.out, Contains(absl::StrCat("shop/", name.substr(name.find('/') + 1))));
  }
  CHECK(RunLens({"graph", "-f", files, "deploy", "web"}).code == 0);
  CHECK(RunLens({"graph", "-f", files, "deployments.batch/web"}).code == 1);
  CHECK(RunLens({"graph", "-f", files, "sts/web"}).code == 1);
}

}  // namespace tests
