// Two sandboxes do not disturb each other, and a running one can be steered.
#include "cmd/sandbox/session.h"

#include <unistd.h>

#include <catch2/catch.hpp>
#include <cstdlib>
#include <filesystem>
#include <fstream>

#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "cmd/sandbox/members.h"
#include "cmd/sandbox/terminal.h"
#include "cmd/sandbox/up.h"

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
  absl::Status Steer(bool down, const std::string& member) {
    SandboxOptions steer;
    steer.directory = options.directory;
    steer.member = member;
    steer.member_down = down;
    return RunMember(steer);
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

TEST_CASE_METHOD(Fixture, "a lock that a killed sandbox left behind locks nobody out") {
  std::filesystem::create_directories(options.directory);
  std::ofstream(options.directory + "/karmada-sandbox.lock") << "1\n";
  std::ofstream(options.directory + "/control.sock") << "";
  CHECK(Session::Open(options).ok());
}

TEST_CASE_METHOD(Fixture, "a member is taken down and brought back from outside") {
  CHECK(absl::IsNotFound(Steer(true, "member1")));  // No sandbox runs there.
  const auto session = Session::Open(options);
  REQUIRE(session.ok());
  const int port = (*session)->fleet().member("member1")->port();
  REQUIRE(Steer(true, "member1").ok());
  REQUIRE(Steer(true, "member1").ok());
  REQUIRE(Steer(false, "member1").ok());
  CHECK((*session)->fleet().member("member1")->port() == port);
  CHECK(Steer(true, "membr2").message() == "there is no member \"membr2\"; did you mean member2?");
}

TEST_CASE_METHOD(Fixture,
                 "commands are printed so that they can be typed where the program was started") {
  const char* path = std::getenv("PATH");
  const std::string before = path == nullptr ? "" : path;
  const auto session = Session::Open(options);
  REQUIRE(session.ok());
  REQUIRE(setenv("PATH", "/usr/bin:/bin", 1) == 0);
  const std::string elsewhere = Instructions(**session, Terminal());
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
