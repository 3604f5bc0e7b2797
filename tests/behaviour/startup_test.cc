// How the controller manager ends when its start is stopped or fails, above all when its loops are
// built already: they go with everything that they use.
#include <sys/wait.h>

#include <atomic>
#include <limits>
#include <memory>
#include <optional>
#include <string>
#include <thread>
#include <vector>

#include <catch2/catch.hpp>

#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "absl/time/time.h"
#include "api/resources.h"
#include "base/clock.h"
#include "base/files.h"
#include "kube/client/client.h"
#include "kube/http/http_transport.h"
#include "kube/kubeconfig/kubeconfig.h"
#include "sandbox/api_server.h"
#include "sandbox/fleet.h"
#include "tests/support/child_process.h"
#include "tests/support/eventually.h"
#include "tests/support/temp_directory.h"

namespace tests {
namespace {

// The controller manager on a control plane whose servers give the answers of a test.
class Startup {
 public:
  Startup() {
    sandbox::FleetOptions options;
    options.members = 1;
    auto fleet = sandbox::Fleet::Start(options);
    REQUIRE(fleet.ok());
    fleet_ = *std::move(fleet);
    REQUIRE(fleet_->WriteKubeconfigs(directory_.path()).ok());
  }

  sandbox::ApiServer& server() { return fleet_->control_plane(); }
  std::string kubeconfig() const { return directory_.path() + "/karmada.kubeconfig"; }
  // The start waits for this last; the loops are built before it.
  void RefuseCustomizations() {
    server().faults().FailNext(std::numeric_limits<int>::max(), 503, "GET",
                               "/resourceinterpretercustomizations");
  }

  void Start(const std::vector<std::string>& more_flags = {}) {
    // Fills freed memory with other bytes, so that a use of it is noticed.
    std::vector<std::string> words = {
        "/usr/bin/env",
        "GLIBC_TUNABLES=glibc.malloc.perturb=165:glibc.malloc.tcache_count=0",
        KM_CONTROLLER_MANAGER,
        absl::StrCat("--kubeconfig=", kubeconfig()),
        "--leader-elect=false",
        "--metrics-bind-address=0",
        "--health-probe-bind-address=0"};
    words.insert(words.end(), more_flags.begin(), more_flags.end());
    program_.emplace(words, LogPath());
  }
  bool Logs(const char* text) {
    return Eventually([&] { return absl::StrContains(Log(), text) || program_->HasEnded(); }) &&
           absl::StrContains(Log(), text);
  }
  // Returns the exit code; -1 after a crash.
  int CodeAfterStop() {
    const int status = program_->Stop();
    return WIFEXITED(status) ? WEXITSTATUS(status) : -1;
  }
  int CodeAfterEnd() {
    REQUIRE(Eventually([&] { return program_->HasEnded(); }));
    return CodeAfterStop();
  }
  std::string Log() const { return base::ReadFile(LogPath()).value_or(""); }

 private:
  std::string LogPath() const { return directory_.path() + "/log"; }

  const TempDirectory directory_;
  std::unique_ptr<sandbox::Fleet> fleet_;
  std::optional<ChildProcess> program_;
};

// Edits namespaces without a pause, so that the handlers of informers are called all the time.
class Edits {
 public:
  explicit Edits(const Startup& startup) {
    const auto config = kube::LoadConnectionConfig({startup.kubeconfig(), ""});
    REQUIRE(config.ok());
    auto transport = kube::NewHttpTransport(*config);
    REQUIRE(transport.ok());
    client_.emplace(*std::move(transport), kube::ClientOptions{.name = "host", .host = "host"},
                    base::RealClock(), nullptr);
    for (int i = 0; i < 2; ++i) {
      writers_.emplace_back([this, i] { Write({"", absl::StrCat("edited-", i)}); });
    }
    REQUIRE(Eventually([&] { return written_ > 20; }));
  }
  ~Edits() {
    over_ = true;
    for (std::thread& writer : writers_) writer.join();
  }

 private:
  void Write(const kube::ObjectKey& key) {
    const kube::Resource namespaces = api::Namespaces();
    kube::Object ns = kube::Object::Make(namespaces.gvk, key);
    client_->Create(namespaces, ns, {}, {}).status().IgnoreError();
    while (!over_) {
      ns.SetLabel("edit", absl::StrCat(++written_));
      client_->Patch(namespaces, key, kube::PatchType::kMerge, ns.root(), {}, {})
          .status()
          .IgnoreError();
    }
  }

  std::optional<kube::Client> client_;
  std::atomic<bool> over_ = false;
  std::atomic<int> written_ = 0;
  std::vector<std::thread> writers_;
};

}  // namespace

// A stop that takes longer than its limit ends with 1.
TEST_CASE("A stop during the start ends the program with 0", "[sandbox]") {
  Startup startup;
  SECTION("when the server does not answer at all") {
    startup.server().faults().SetLatency(absl::Hours(1));
    startup.Start();
    REQUIRE(startup.Logs("karmada-controller-manager starts"));
  }
  SECTION("when the loops are built and a list is refused") {
    startup.RefuseCustomizations();
    startup.Start();
    REQUIRE(startup.Logs("controllers on="));
  }
  std::optional<Edits> edits;
  SECTION("when the loops are built and objects change all the time") {
    startup.RefuseCustomizations();
    startup.Start();
    REQUIRE(startup.Logs("controllers on="));
    edits.emplace(startup);
  }
  SECTION("when the loops are built and no request is answered any more") {
    startup.RefuseCustomizations();
    startup.Start();
    REQUIRE(startup.Logs("controllers on="));
    startup.server().faults().SetLatency(absl::Hours(1));
    startup.server().faults().DropWatches();
  }
  const int code = startup.CodeAfterStop();
  INFO(startup.Log());
  CHECK(code == 0);
  CHECK_FALSE(absl::StrContains(startup.Log(), "karmada-controller-manager ends"));
}

TEST_CASE("A start that fails after the loops are built ends the program with 1 and its reason",
          "[sandbox]") {
  Startup startup;
  std::string reason;
  SECTION("because the interpreter's configuration cannot be listed") {
    startup.RefuseCustomizations();
    // The first request of all has to be answered within this time, too.
    startup.Start({"--cluster-cache-sync-timeout=3s"});
    reason = "loading the interpreter's configuration: ";
  }
  SECTION("because an address is in use") {
    const std::string url = startup.server().url();
    const std::string address = absl::StrCat("127.0.0.1", url.substr(url.rfind(':')));
    startup.Start({absl::StrCat("--metrics-bind-address=", address)});
    reason = absl::StrCat("serving metrics: listening on ", address);
  }
  const int code = startup.CodeAfterEnd();
  INFO(startup.Log());
  CHECK(code == 1);
  const std::string log = startup.Log();
  const size_t at = log.find("karmada-controller-manager ends error=");
  REQUIRE(at != std::string::npos);
  CHECK(absl::StrContains(log.substr(at), reason));
}

}  // namespace tests
