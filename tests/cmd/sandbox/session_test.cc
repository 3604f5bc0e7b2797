// Two sandboxes do not disturb each other, and a running one can be steered.
#include "cmd/sandbox/session.h"

#include <sys/fsuid.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>
#include <unistd.h>

#include <algorithm>
#include <catch2/catch.hpp>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <thread>

#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "absl/time/time.h"
#include "api/resources.h"
#include "cmd/sandbox/steering.h"
#include "cmd/sandbox/up.h"
#include "config/command_line.h"
#include "tests/support/eventually.h"
#include "tests/support/fake_clock.h"

namespace cmd {
namespace {

struct Fixture {
  Fixture() {
    std::string pattern = (std::filesystem::temp_directory_path() / "session-XXXXXX").string();
    REQUIRE(mkdtemp(pattern.data()) != nullptr);
    // Longer than the limit for socket addresses.
    options.directory = pattern + "/" + std::string(120, 'x');
    options.fleet.members = 2;
    root = pattern;
  }
  ~Fixture() {
    std::error_code ignored;
    std::filesystem::remove_all(root, ignored);
  }
  absl::Status SteerMember(const std::string& action, const std::string& member) {
    SandboxOptions steer;
    steer.command = SandboxOptions::Command::kMember;
    steer.directory = options.directory;
    steer.member = member;
    steer.action = action;
    return RunSteering(steer);
  }
  absl::Status SteerManager(const std::string& action) {
    SandboxOptions steer;
    steer.command = SandboxOptions::Command::kManager;
    steer.directory = options.directory;
    steer.action = action;
    return RunSteering(steer);
  }
  // A program that reports that it runs, and does so until it is asked to end.
  std::string FakeDaemon() const {
    const std::string path = root + "/daemon";
    std::ofstream(path) << "#!/bin/sh\necho started\nexec sleep 1000\n";
    std::filesystem::permissions(path, std::filesystem::perms::owner_all);
    return path;
  }

  SandboxOptions options;
  std::string root;
};

TEST_CASE_METHOD(Fixture, "a directory in use is refused, naming the process") {
  auto first = Session::Open(options);
  REQUIRE(first.ok());
  const absl::Status second = Session::Open(options).status();
  CHECK(second.code() == absl::StatusCode::kFailedPrecondition);
  CHECK(absl::StrContains(second.message(), absl::StrCat("(process ", getpid(), ")")));
  first->reset();
  CHECK(Session::Open(options).ok());
}

TEST_CASE_METHOD(Fixture,
                 "a lock file that a killed sandbox left behind does not lock the directory") {
  std::filesystem::create_directories(options.directory);
  std::ofstream(options.directory + "/karmada-sandbox.lock") << "1\n";
  std::ofstream(options.directory + "/control.sock") << "";
  CHECK(Session::Open(options).ok());
}

TEST_CASE_METHOD(Fixture, "a member is taken down and brought back from outside") {
  CHECK(absl::IsNotFound(SteerMember("down", "member1")));  // No sandbox runs there.
  const auto session = Session::Open(options);
  REQUIRE(session.ok());
  const int port = (*session)->fleet().member("member1")->port();
  REQUIRE(SteerMember("down", "member1").ok());
  REQUIRE(SteerMember("down", "member1").ok());
  REQUIRE(SteerMember("up", "member1").ok());
  CHECK((*session)->fleet().member("member1")->port() == port);
  CHECK(SteerMember("down", "membr2").message() ==
        "there is no member \"membr2\"; did you mean member2?");
}

kube::ObjectPtr SecretOf(Session& session, const std::string& member) {
  return session.fleet()
      .control_plane()
      .backend()
      .Get({"", "v1", "secrets"}, {"karmada-cluster", member})
      .value_or(nullptr);
}

TEST_CASE_METHOD(Fixture, "a member that has left joins again, with new credentials") {
  const auto session = Session::Open(options);
  REQUIRE(session.ok());
  sandbox::Backend& karmada = (*session)->fleet().control_plane().backend();
  const kube::ObjectKey member{"", "member1"};
  const auto before = SecretOf(**session, "member1");
  REQUIRE(before != nullptr);
  const absl::Status joined = SteerMember("join", "member1");
  CHECK(absl::IsFailedPrecondition(joined));
  CHECK(absl::StrContains(joined.message(), "has not left; kubectl delete cluster member1"));

  sandbox::PatchRequest hold;
  hold.patch = *json::Parse(R"({"metadata": {"finalizers": ["example.io/hold"]}})");
  REQUIRE(karmada.Patch(api::Clusters().gvr(), member, hold).ok());
  REQUIRE(karmada.Delete(api::Clusters().gvr(), member, {}).ok());
  CHECK(absl::StrContains(SteerMember("join", "member1").message(), "is still leaving"));
  hold.patch = *json::Parse(R"({"metadata": {"finalizers": null}})");
  REQUIRE(karmada.Patch(api::Clusters().gvr(), member, hold).ok());

  CHECK(absl::StrContains(Steer(**session, "member up member1").value_or(""),
                          "member1 answers already. It is not joined"));
  REQUIRE(SteerMember("join", "member1").ok());
  const auto cluster = karmada.Get(api::Clusters().gvr(), member);
  REQUIRE(cluster.ok());
  const auto after = SecretOf(**session, "member1");
  REQUIRE(after != nullptr);
  CHECK(after->uid() != before->uid());
  REQUIRE(after->OwnerRefs().size() == 1);
  CHECK(after->OwnerRefs()[0].uid == (*cluster)->uid());
  CHECK(after->root()["data"]["token"] != before->root()["data"]["token"]);
  CHECK(absl::IsNotFound(SteerMember("join", "member9")));
}

TEST_CASE_METHOD(Fixture, "what is said about the next leader is true") {
  const auto session = Session::Open(options);
  REQUIRE(session.ok());
  sandbox::Backend& karmada = (*session)->fleet().control_plane().backend();
  Daemon& daemon = (*session)->daemon();
  REQUIRE(daemon.Start(FakeDaemon()).ok());
  // Returns what is said when the program starts again after the lease was renewed at this time;
  // InfiniteFuture stands for one that was renewed after the program had ended, and has run out.
  const auto restart = [&](absl::Time renewed) {
    REQUIRE(daemon.Down().ok());
    const bool runs_out = renewed == absl::InfiniteFuture();
    if (runs_out) renewed = daemon.ended_at() + absl::Milliseconds(1);
    const kube::Gvr leases{"coordination.k8s.io", "v1", "leases"};
    const kube::ObjectKey key{"karmada-system", "karmada-controller-manager"};
    static_cast<void>(karmada.Delete(leases, key, {}));
    if (renewed != absl::InfinitePast()) {
      kube::Object lease = kube::Object::Make({"coordination.k8s.io", "v1", "Lease"}, key);
      lease.Set({"spec", "holderIdentity"}, "somebody");
      lease.Set({"spec", "leaseDurationSeconds"}, runs_out ? 0 : 15);
      lease.Set({"spec", "renewTime"}, kube::FormatMicroTime(renewed));
      REQUIRE(karmada.Create(leases, lease).ok());
    }
    while (runs_out && absl::Now() <= renewed) {
    }
    return Steer(**session, "manager up").value_or("");
  };
  const absl::Time now = absl::Now();
  CHECK(absl::EndsWith(restart(absl::InfinitePast()), "It leads at once."));
  CHECK(absl::StrContains(restart(now - absl::Hours(1)), "It leads in 15 to 20 seconds"));
  CHECK(absl::StrContains(restart(now + absl::Hours(1)), "another one leads (somebody)"));
  CHECK(absl::StrContains(restart(absl::InfiniteFuture()), "It leads in 0 to 5 seconds"));
}

TEST_CASE_METHOD(Fixture,
                 "a sandbox where another one ran starts empty, says so and keeps its log") {
  const std::string log = options.directory + "/karmada-controller-manager.log";
  {
    const auto first = Session::Open(options);
    REQUIRE(first.ok());
    CHECK((*first)->earlier_run().empty());
    REQUIRE((*first)->daemon().Start(FakeDaemon()).ok());
    REQUIRE(tests::Eventually([&] { return (*first)->daemon().LogTail(1) == "started"; }));
  }
  const auto second = Session::Open(options);
  REQUIRE(second.ok());
  CHECK((*second)->earlier_run() ==
        absl::StrCat("An earlier sandbox ran in ", options.directory,
                     ": this one starts empty, with new credentials; the log of its controller "
                     "manager is now ",
                     log, ".1."));
  CHECK_FALSE(std::filesystem::exists(log));
  std::string line;
  std::ifstream(log + ".1") >> line;
  CHECK(line == "started");
}

TEST_CASE("without a directory for temporary files nothing is left in the working directory") {
  const auto set = [](const char* variable, const std::string& value) {
    value.empty() ? unsetenv(variable) : setenv(variable, value.c_str(), 1);
  };
  const auto get = [](const char* variable) {
    const char* value = std::getenv(variable);
    return std::string(value == nullptr ? "" : value);
  };
  const std::string runtime = get("XDG_RUNTIME_DIR"), temporary = get("TMPDIR");
  set("XDG_RUNTIME_DIR", "");
  set("TMPDIR", "/nonexistent");
  const absl::Status opened = PrivateDirectory::Open("").status();
  set("XDG_RUNTIME_DIR", runtime);
  set("TMPDIR", temporary);
  CHECK(absl::IsNotFound(opened));
  CHECK(absl::StrContains(opened.message(),
                          "making a directory in /nonexistent; choose another place with --dir"));
}

TEST_CASE_METHOD(Fixture, "the controller manager is taken down and started again from outside") {
  const auto session = Session::Open(options);
  REQUIRE(session.ok());
  Daemon& daemon = (*session)->daemon();
  CHECK(SteerManager("down").message() ==
        "this sandbox was started without a karmada-controller-manager");
  REQUIRE(daemon.Start(FakeDaemon()).ok());
  const pid_t first = daemon.pid();
  CHECK(first != 0);
  const auto log = [&] { return daemon.LogTail(10); };
  REQUIRE(tests::Eventually([&] { return log() == "started"; }));
  REQUIRE(SteerManager("up").ok());  // It runs already.
  CHECK(daemon.pid() == first);
  REQUIRE(SteerManager("down").ok());
  CHECK(daemon.pid() == 0);
  CHECK_FALSE(daemon.EndedByItself().has_value());
  REQUIRE(SteerManager("up").ok());
  CHECK(daemon.pid() != 0);
  CHECK(daemon.pid() != first);
  CHECK(tests::Eventually([&] { return log() == "started\nstarted"; }));
}

TEST_CASE_METHOD(Fixture,
                 "a controller manager that ended by itself is started again from outside") {
  const auto session = Session::Open(options);
  REQUIRE(session.ok());
  Daemon& daemon = (*session)->daemon();
  REQUIRE(daemon.Start("/bin/false").ok());
  REQUIRE(tests::Eventually([&] { return daemon.EndedByItself().has_value(); }));
  CHECK(*daemon.EndedByItself() == "exited with code 1");
  const absl::Status up = SteerManager("up");
  INFO(up);
  CHECK(up.ok());
}

TEST_CASE_METHOD(Fixture, "what was carried out and failed is no mistake in the command line") {
  const auto session = Session::Open(options);
  REQUIRE(session.ok());
  const std::string program = FakeDaemon();
  REQUIRE((*session)->daemon().Start(program).ok());
  REQUIRE(SteerManager("down").ok());
  std::filesystem::remove(program);
  const absl::Status failed = SteerManager("up");
  INFO(failed);
  CHECK(absl::StrContains(failed.message(), program));
  CHECK(config::ExitCodeFor(failed) == 1);
  CHECK(config::ExitCodeFor(SteerMember("up", "member9")) == config::kUsageExitCode);
}

TEST_CASE_METHOD(Fixture, "the controller manager outlives the thread that has started it") {
  const auto session = Session::Open(options);
  REQUIRE(session.ok());
  Daemon& daemon = (*session)->daemon();
  const std::string path = root + "/ticking";
  std::ofstream(path) << "#!/bin/sh\nwhile sleep 0.02; do echo tick; done\n";
  std::filesystem::permissions(path, std::filesystem::perms::owner_all);
  std::thread([&] { REQUIRE(daemon.Start(path).ok()); }).join();
  const auto ticks = [&] {
    const std::string log = daemon.LogTail(1000);
    return std::count(log.begin(), log.end(), 't');
  };
  const auto before = ticks();
  CHECK(tests::Eventually([&] { return ticks() >= before + 3; }));
  CHECK_FALSE(daemon.EndedByItself().has_value());
}

TEST_CASE_METHOD(Fixture, "who may not ask a sandbox is told so") {
  constexpr uid_t kNobody = 65534;
  const auto control = ControlSocket::Listen(root, [](const std::string& line) { return line; });
  REQUIRE(control.ok());
  REQUIRE(chmod((root + "/control.sock").c_str(), 0) == 0);
  const bool is_root = geteuid() == 0;
  if (is_root) setfsuid(kNobody);  // Of this thread alone: root may open everything.
  const absl::Status asked = ControlSocket::Send(root, "hello").status();
  if (is_root) setfsuid(0);
  CHECK(absl::IsPermissionDenied(asked));
}

TEST_CASE_METHOD(Fixture, "the control socket goes on after a lack of descriptors") {
  tests::FakeClock clock;
  // Sanitizers check each type once, for which they need a descriptor.
  static_cast<const base::Clock&>(clock).SteadyNow();
  const auto control = ControlSocket::Listen(
      root, [](const std::string& line) { return line; }, clock);
  REQUIRE(control.ok());
  const int client = socket(AF_UNIX, SOCK_STREAM, 0);
  sockaddr_un address = {};
  address.sun_family = AF_UNIX;
  (root + "/control.sock").copy(address.sun_path, sizeof address.sun_path - 1);
  rlimit before = {};
  REQUIRE(getrlimit(RLIMIT_NOFILE, &before) == 0);
  rlimit none = before;
  none.rlim_cur = 3;  // Standard input, output and error.
  REQUIRE(setrlimit(RLIMIT_NOFILE, &none) == 0);
  // The socket's thread cannot accept this or, if it waited for one already, the next.
  const bool connected =
      connect(client, reinterpret_cast<const sockaddr*>(&address), sizeof address) == 0;
  shutdown(client, SHUT_RDWR);
  const bool pauses = tests::Eventually([&] { return clock.waiters() == 1; });
  setrlimit(RLIMIT_NOFILE, &before);
  close(client);
  REQUIRE(connected);
  REQUIRE(pauses);
  clock.Advance(absl::Seconds(1));
  CHECK(ControlSocket::Send(root, "hello").value_or("no answer") == "hello");
}

// A customization of Deployments.
kube::Object Customization(const std::string& name, const std::string& field,
                           const std::string& script) {
  kube::Object object = kube::Object::Make(api::InterpreterCustomizations().gvk, {"", name});
  object.Set({"spec", "target", "apiVersion"}, "apps/v1");
  object.Set({"spec", "target", "kind"}, "Deployment");
  object.Set({"spec", "customizations", field, "luaScript"}, script);
  return object;
}

TEST_CASE_METHOD(Fixture, "customizations are refused as karmada-webhook refuses them") {
  const auto session = Session::Open(options);
  REQUIRE(session.ok());
  sandbox::Backend& karmada = (*session)->fleet().control_plane().backend();
  const auto apply = [&](const std::string& name, const char* field, const char* script) {
    const auto created =
        karmada.Create(api::InterpreterCustomizations().gvr(), Customization(name, field, script));
    return std::string(created.status().message());
  };
  const std::string denied =
      "admission webhook \"resourceinterpretercustomization.karmada.io\" denied the request: ";
  CHECK(apply("broken", "retention", "function Retain(") ==
        denied +
            "InterpreterOperation(Retain) Lua script error: broken/retention:1: "
            "<name> or '...' expected near '<eof>'");
  CHECK(apply("first", "retention", "function Retain(d, o) return d end").empty());
  CHECK(apply("second", "retention", "function Retain(d, o) return o end") ==
        denied +
            "conflicting with InterpreterOperation(Retain) of existing "
            "ResourceInterpreterCustomization(first)");
  const char* const dependencies = "function GetDependencies(d) return {} end";
  CHECK(apply("third", "dependencyInterpretation", dependencies).empty());
  CHECK(apply("fourth", "dependencyInterpretation", dependencies).empty());
}

TEST_CASE_METHOD(Fixture,
                 "commands are printed so that they can be typed where the program was started") {
  const char* path = std::getenv("PATH");
  const std::string before = path == nullptr ? "" : path;
  const auto session = Session::Open(options);
  REQUIRE(session.ok());
  REQUIRE(setenv("PATH", "/usr/bin:/bin", 1) == 0);
  const std::string elsewhere = Instructions(**session, tool::Colours(false));
  REQUIRE(setenv("PATH", absl::StrCat(ProgramDirectory(), ":/usr/bin").c_str(), 1) == 0);
  const std::string beside = CommandFor("cmd_sandbox_test");
  setenv("PATH", before.c_str(), 1);
  INFO(elsewhere);
  CHECK(absl::StrContains(
      elsewhere, absl::StrCat("  ", ProgramDirectory(), "/karmada-sandbox member down member2")));
  CHECK(absl::StrContains(elsewhere, absl::StrCat("  ", ProgramDirectory(),
                                                  "/karmada-controller-manager --kubeconfig ")));
  CHECK(beside == "cmd_sandbox_test");
}

TEST_CASE_METHOD(Fixture, "a directory without definitions is refused by name") {
  options.fleet.crd_directory = "/nope";
  CHECK(Session::Open(options).status().message() == "there are no *.yaml files in /nope");
}

}  // namespace
}  // namespace cmd
