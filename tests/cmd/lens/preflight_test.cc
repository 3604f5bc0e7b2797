// karmada-lens preflight as a whole: command line, exit codes, text and JSON, on a simulated
// control plane, with a member as the host cluster.
#include <catch2/catch.hpp>
#include <memory>
#include <string>

#include "absl/strings/str_cat.h"
#include "api/resources.h"
#include "base/json.h"
#include "base/yaml.h"
#include "sandbox/fleet.h"
#include "tests/cmd/lens/tool.h"
#include "tests/support/temp_directory.h"

namespace tests {
namespace {

using Catch::Contains;
using Catch::EndsWith;

struct Plane {
  std::unique_ptr<sandbox::Fleet> fleet;
  TempDirectory directory;
  std::string kubeconfig = directory.path() + "/karmada.kubeconfig";
  std::string host = directory.path() + "/member1.kubeconfig";

  explicit Plane(config::Release release = config::Release::kV1_18)
      : fleet(*sandbox::Fleet::Start({.members = 1,
                                      .with_scheduler = false,
                                      .crd_directory = "config/crds",
                                      .release = release})) {
    REQUIRE(fleet->WriteKubeconfigs(directory.path()).ok());
  }

  void Create(sandbox::ApiServer& server, const kube::Resource& resource, const std::string& yaml) {
    const auto created = server.backend().Create(resource.gvr(), kube::Object(*yaml::Parse(yaml)));
    INFO(created.status());
    REQUIRE(created.ok());
  }

  // Puts a controller manager with these arguments into the host cluster.
  void Deploy(const std::string& ns, const std::string& name, const std::string& arguments) {
    sandbox::ApiServer& server = *fleet->member("member1");
    Create(server, api::Namespaces(),
           absl::StrCat("apiVersion: v1\nkind: Namespace\nmetadata: {name: ", ns, "}\n"));
    Create(server, api::Deployments(),
           absl::StrCat(R"(
apiVersion: apps/v1
kind: Deployment
metadata: {namespace: )",
                        ns, ", name: ", name, R"(}
spec:
  replicas: 0
  selector: {matchLabels: {app: cm}}
  template:
    metadata: {labels: {app: cm}}
    spec:
      containers:
      - name: cm
        image: docker.io/karmada/karmada-controller-manager:v1.18.2
        command: [/bin/karmada-controller-manager, )",
                        arguments, "]\n"));
  }

  Ran Run(std::vector<std::string> words, bool colours = false) {
    words.insert(words.begin(), {"preflight", "--kubeconfig", kubeconfig});
    return RunLens(words, colours);
  }
  std::string Args(const std::string& text) { return directory.Write("args.txt", text); }
};

}  // namespace

TEST_CASE_METHOD(Plane, "Lens preflight: an empty control plane ends with 0") {
  const Ran ran = Run({});
  INFO(ran.err);
  CHECK(ran.code == 0);
  CHECK(ran.err.empty());
  CHECK_THAT(ran.out, Contains("Nothing that was looked at would be lost, 1 would differ.\n") &&
                          Contains("Flags, feature gates and controllers were not looked at") &&
                          Contains("1 object, served as v1alpha1") &&
                          Contains("ResourceInterpreterCustomizations: none\n") &&
                          Contains("Member clusters: 1 in Push mode\n") &&
                          !Contains("Feature gates: "));
}

TEST_CASE("Lens preflight: the release of the control plane is read, and can be set") {
  Plane older, newer(config::Release::kV1_19);
  CHECK_THAT(older.Run({}).out,
             Contains("\nCompared with Karmada v1.18.2 and v1.19.0-rc.0 (f8fdd02df).\n"
                      "Control plane: Karmada v1.18 by its definitions; behaves as v1.18.\n"));
  CHECK_THAT(newer.Run({}).out,
             Contains("Control plane: Karmada v1.19 by its definitions; behaves as v1.19.\n"));
  CHECK_THAT(newer.Run({"--emulated-karmada-version", "v1.18"}).out,
             Contains("Karmada v1.19 by its definitions; behaves as v1.18.\n"));
  const std::string args = newer.Args("--emulated-karmada-version=v1.18");
  CHECK_THAT(newer.Run({"--args-file", args}).out, Contains("behaves as v1.18.\n"));
  const auto answer = json::Parse(newer.Run({"-o", "json"}).out);
  REQUIRE(answer.ok());
  CHECK((*answer)["comparedWith"].AsString() == "v1.19.0-rc.0 (f8fdd02df)");
  CHECK((*answer)["release"]["served"].AsString() == "v1.19");
  CHECK((*answer)["release"]["behavesAs"].AsString() == "v1.19");
}

TEST_CASE("Lens preflight: definitions that may not be read leave the release unknown") {
  Plane plane;
  plane.fleet->control_plane().faults().FailNext(100, 403, "GET", "/openapi/v3", "Forbidden",
                                                 "you may not");
  const Ran ran = plane.Run({});
  CHECK(ran.code == 1);
  CHECK_THAT(ran.out, Contains("its release is not known (") && Contains("; behaves as v1.18.\n") &&
                          Contains("unknown   release of Karmada"));
}

// Who has installed a package has no such file.
TEST_CASE_METHOD(Plane, "Lens preflight: where the page is to which the answer points is said") {
  const Ran ran = Run({"--args-file", Args("--log-dir=/var/log/karmada")});
  INFO(ran.out);
  CHECK_THAT(ran.out, Contains("docs/differences.md#") &&
                          EndsWith("\ndocs/differences.md is a page in the source of this program, "
                                   "of the version that --version prints.\n"));
}

TEST_CASE_METHOD(Plane, "Lens preflight: the arguments are those of the host's Deployment") {
  Deploy("karmada-system", "karmada-controller-manager",
         "'--controllers=*,-remedy', --feature-gates=Failover=true, --log-dir=/tmp, --v=4");
  const Ran ran = Run({"--host-kubeconfig", host});
  INFO(ran.err);
  CHECK(ran.code == 0);
  CHECK_THAT(ran.out,
             Contains("would be lost, 2 would differ.\n") &&
                 Contains("same    Deployment karmada-system/karmada-controller-manager") &&
                 Contains("differs   --log-dir   /tmp") && Contains("same    Failover   on\n") &&
                 Contains("same    remedy               turned off\n") &&
                 Contains("as by default\n") && !Contains("not looked at;"));
}

TEST_CASE_METHOD(Plane, "Lens preflight: namespace and name of the Deployment can be others") {
  Deploy("other", "my-controller-manager", "--no-such-flag");
  const Ran ran = Run(
      {"--host-kubeconfig", host, "--namespace", "other", "--deployment", "my-controller-manager"});
  CHECK(ran.code == 2);
  CHECK_THAT(ran.out, Contains("1 thing would be lost, 1 would differ.\n") &&
                          Contains("lost    --no-such-flag   ") &&
                          Contains("there is no flag --no-such-flag"));
}

TEST_CASE_METHOD(Plane, "Lens preflight: a Deployment that is not there ends with 1") {
  const Ran ran = Run({"--host-kubeconfig", host});
  CHECK(ran.code == 1);
  CHECK(ran.out.empty());
  CHECK_THAT(ran.err, Contains("karmada-system/karmada-controller-manager") &&
                          Contains("--namespace") && Contains("--deployment"));
}

TEST_CASE_METHOD(Plane, "Lens preflight: a flag or gate that is refused ends with 2") {
  for (const char* refused :
       {"--secure-port=1", "--feature-gates=Nope=true", "--cluster-monitor-period=x"}) {
    INFO(refused);
    const Ran ran = Run({"--args-file", Args(refused)});
    CHECK(ran.code == 2);
    CHECK_THAT(ran.out, Contains("1 thing would be lost"));
  }
  CHECK(Run({"--args-file", Args("--v=1 --log-dir=/x --controllers=*,nope")}).code == 0);
  CHECK(Run({"--args-file", Args("--v=$(LEVEL)")}).code == 1);
  CHECK(Run({"--args-file", Args("--v=$(LEVEL) --nope")}).code == 2);
}

TEST_CASE_METHOD(Plane, "Lens preflight: a customization that does not compile ends with 2") {
  Create(fleet->control_plane(), api::InterpreterCustomizations(), R"(
apiVersion: config.karmada.io/v1alpha1
kind: ResourceInterpreterCustomization
metadata: {name: maps}
spec:
  target: {apiVersion: v1, kind: ConfigMap}
  customizations: {healthInterpretation: {luaScript: "function InterpretHealth(o) return"}}
)");
  const Ran ran = Run({});
  INFO(ran.out);
  CHECK(ran.code == 2);
  CHECK_THAT(ran.out, Contains("lost    maps   ConfigMap (v1): InterpretHealth"));
}

TEST_CASE_METHOD(Plane, "Lens preflight: a kind that may not be listed ends with 1") {
  fleet->control_plane().faults().FailNext(100, 403, "GET", "/propagationpolicies", "Forbidden",
                                           "you may not");
  const Ran ran = Run({});
  CHECK(ran.code == 1);
  CHECK_THAT(ran.out, Contains("2 could not be determined") &&
                          Contains("unknown   propagationpolicies.policy.karmada.io") &&
                          Contains("the objects could not be counted"));
}

TEST_CASE_METHOD(Plane, "Lens preflight: programs read JSON, and colours are only in the text") {
  const std::string args = Args("--feature-gates=Nope=true --v=4");
  const Ran ran = Run({"--args-file", args, "--output", "json"}, true);
  CHECK(ran.code == 2);
  const auto answer = json::Parse(ran.out);
  REQUIRE(answer.ok());
  CHECK((*answer)["verdict"].AsString() == "lost");
  CHECK((*answer)["arguments"].AsString() == args);
  CHECK((*answer)["gates"].At(0)["name"].AsString() == "Nope");
  CHECK((*answer)["controllers"].size() >= 27);
  CHECK((*answer)["kinds"].size() >= 20);
  CHECK_THAT(Run({"--args-file", args}, true).out, Contains("\x1b[31mlost\x1b[0m    Nope"));
  CHECK_THAT(Run({"--args-file", args}).out, !Contains("\x1b"));
  const auto without = json::Parse(Run({"-o", "json"}).out);
  REQUIRE(without.ok());
  CHECK((*without)["arguments"].is_null());
}

TEST_CASE_METHOD(Plane, "Lens preflight: a cluster without Karmada is no control plane") {
  const Ran ran = RunLens({"preflight", "--kubeconfig", host});
  CHECK(ran.code == 1);
  CHECK_THAT(ran.err, Contains("is not a Karmada control plane"));
}

TEST_CASE("Lens preflight: what cannot be used is named, with 1") {
  const TempDirectory directory;
  const std::string nowhere = directory.Write("nowhere", R"(
apiVersion: v1
kind: Config
current-context: nowhere
clusters: [{name: nowhere, cluster: {server: "https://127.0.0.1:1"}}]
contexts: [{name: nowhere, context: {cluster: nowhere, user: nobody}}]
users: [{name: nobody, user: {}}]
)");
  struct Case {
    std::vector<std::string> words;
    const char* says;
  };
  const Case cases[] = {
      {{"--kubeconfig", "/no/where"}, "/no/where"},
      {{"--kubeconfig", nowhere}, "127.0.0.1:1"},
      {{"--kubeconfig", nowhere, "--host-kubeconfig", "/no/host"}, "/no/host"},
      {{"--host-kubeconfig", nowhere}, "127.0.0.1:1"},
      {{"--kubeconfig", nowhere, "--args-file", "/no/args"}, "/no/args"},
      {{"--kubeconfig", nowhere, "--args-file", nowhere}, "neither a Deployment"},
      {{"--args-file", nowhere, "--host-kubeconfig", nowhere}, "--host-kubeconfig"},
      {{"--namespace", "x"}, "--host-kubeconfig"},
      {{"--host-kubeconfig", nowhere, "--namespace", "A B"}, "A B"},
      {{"--host-kubeconfig", nowhere, "--deployment", "A/B"}, "A/B"},
  };
  for (const Case& c : cases) {
    std::vector<std::string> words = c.words;
    words.insert(words.begin(), "preflight");
    const Ran ran = RunLens(words);
    INFO(c.says << ": " << ran.err);
    CHECK(ran.code == 1);
    CHECK(ran.out.empty());
    CHECK_THAT(ran.err, Contains(c.says));
  }
}

}  // namespace tests
