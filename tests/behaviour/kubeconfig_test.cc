// The messages and the exit code of the controller manager when its kubeconfig cannot be used or
// its server cannot be reached. No other process is needed.
#include <sys/wait.h>

#include <string>
#include <vector>

#include <catch2/catch.hpp>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_replace.h"
#include "base/files.h"
#include "sandbox/fleet.h"
#include "tests/support/child_process.h"
#include "tests/support/eventually.h"
#include "tests/support/temp_directory.h"

namespace tests {
namespace {

constexpr char kKubeconfig[] = R"(
current-context: karmada
clusters: [{name: plane, cluster: {server: 'https://127.0.0.1:1', CA}}]
users: [{name: admin, user: {USER}}]
contexts: [{name: karmada, context: {cluster: plane, user: admin}}]
)";

struct Ended {
  int code = 0;
  std::string log;
};

// Runs the program with this kubeconfig until it ends by itself.
Ended Run(const std::string& kubeconfig, const TempDirectory& directory) {
  const std::string log = directory.path() + "/log";
  ChildProcess program({KM_CONTROLLER_MANAGER, absl::StrCat("--kubeconfig=", kubeconfig),
                        "--leader-elect=false", "--metrics-bind-address=0",
                        "--health-probe-bind-address=0", "--cluster-cache-sync-timeout=1s"},
                       log);
  REQUIRE(Eventually([&] { return program.HasEnded(); }));
  const int status = program.Stop();
  REQUIRE(WIFEXITED(status));
  return {WEXITSTATUS(status), base::ReadFile(log).value()};
}

}  // namespace

TEST_CASE("A kubeconfig that cannot be used ends the program with 2, and file and user are named",
          "[sandbox]") {
  struct Case {
    std::string text;
    std::vector<std::string> says;
  };
  const auto with = [](const char* ca, const char* user) {
    return absl::StrReplaceAll(kKubeconfig, {{"CA", ca}, {"USER", user}});
  };
  const std::vector<Case> cases = {
      {with("certificate-authority-data: Q0E=", "token: t"),
       {"cluster \\\"plane\\\", field certificate-authority-data", "no PEM block found"}},
      {with("certificate-authority: /nowhere/ca.crt", "token: t"),
       {"cluster \\\"plane\\\"", "/nowhere/ca.crt does not exist"}},
      {with("tls-server-name: s", "client-certificate-data: Q0E=, client-key-data: Q0E="),
       {"user \\\"admin\\\", field client-certificate-data", "no PEM block found"}},
      {with("tls-server-name: s", "client-certificate: /nowhere/c.crt, client-key: /nowhere/k.key"),
       {"user \\\"admin\\\"", "/nowhere/c.crt does not exist"}},
      {with("certificate-authority-data: '%'", "token: t"),
       {"cluster \\\"plane\\\"", "not valid base64"}},
      {"current-context: other", {"context \\\"other\\\" does not exist"}},
      {"clusters: [", {"invalid YAML at line 1"}},
  };
  for (const Case& c : cases) {
    const TempDirectory directory;
    directory.Write("kubeconfig", c.text);
    const Ended ended = Run(directory.path() + "/kubeconfig", directory);
    INFO(c.text << "\n" << ended.log);
    CHECK(ended.code == 2);
    CHECK_THAT(ended.log, Catch::Contains("the kubeconfig of the Karmada control plane cannot be "
                                          "used") &&
                              Catch::Contains("kubeconfig " + directory.path() + "/kubeconfig: "));
    for (const std::string& word : c.says) CHECK_THAT(ended.log, Catch::Contains(word));
  }
}

TEST_CASE("A kubeconfig that does not exist is named", "[sandbox]") {
  const TempDirectory directory;
  const Ended ended = Run(directory.path() + "/nowhere", directory);
  CHECK(ended.code == 2);
  CHECK_THAT(ended.log, Catch::Contains(directory.path() + "/nowhere does not exist"));
}

TEST_CASE("An API server that cannot be reached ends the program with 1, and it is named",
          "[sandbox]") {
  const TempDirectory directory;
  directory.Write("kubeconfig", absl::StrReplaceAll(kKubeconfig, {{"CA", "tls-server-name: s"},
                                                                  {"USER", "token: t"}}));
  const Ended ended = Run(directory.path() + "/kubeconfig", directory);
  INFO(ended.log);
  CHECK(ended.code == 1);
  CHECK_THAT(ended.log, Catch::Contains("reaching the Karmada API server") &&
                            Catch::Contains("https://127.0.0.1:1: cannot connect to 127.0.0.1:1: "
                                            "connection refused"));
}

TEST_CASE(
    "A kubeconfig of a cluster without Karmada ends the program with 1, and nothing but that is "
    "reported",
    "[sandbox]") {
  sandbox::FleetOptions options;
  options.members = 0;
  options.with_crds = false;
  const auto fleet = sandbox::Fleet::Start(options);
  REQUIRE(fleet.ok());
  const TempDirectory directory;
  REQUIRE((*fleet)->WriteKubeconfigs(directory.path()).ok());
  const Ended ended = Run(directory.path() + "/karmada.kubeconfig", directory);
  INFO(ended.log);
  CHECK(ended.code == 1);
  CHECK_THAT(ended.log, Catch::Contains("API server without the APIs of a Karmada control plane") &&
                            Catch::Contains("either --kubeconfig leads to another cluster") &&
                            !Catch::Contains("cache is not up to date"));
}

}  // namespace tests
