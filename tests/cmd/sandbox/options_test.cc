// The command line of karmada-sandbox.
#include "cmd/sandbox/options.h"

#include <catch2/catch.hpp>
#include <string>
#include <vector>

#include "absl/strings/match.h"

namespace cmd {
namespace {

ParsedCommandLine Parse(std::vector<const char*> words) {
  words.insert(words.begin(), "karmada-sandbox");
  return ParseCommandLine(static_cast<int>(words.size()), words.data());
}

TEST_CASE("a word that means nothing is named, with the one that was probably meant") {
  struct Case {
    std::vector<const char*> words;
    std::string said;
  };
  const std::vector<Case> cases = {
      {{"upp"}, "there is no command \"upp\"; did you mean up?\n"},
      {{"frobnicate"},
       "there is no command \"frobnicate\"; there are up, demo, member, agent, manager, status, "
       "version, completion, help\n"},
      {{"up", "frobnicate"}, "up takes no argument \"frobnicate\"\n"},
      {{},
       "a command is missing; there are up, demo, member, agent, manager, status, version, "
       "completion, "
       "help\n"},
      {{"member"}, "a command is missing; there are down, up, join\n"},
      {{"up", "--port"}, "--port: the value is missing\n"},
      {{"up", "--membres", "3"}, "there is no flag --membres; did you mean --members?\n"},
      {{"up", "--membres=3"}, "there is no flag --membres; did you mean --members?\n"},
      {{"manager"}, "a command is missing; there are down, up\n"},
      {{"help", "membre"}, "there is no command \"membre\"; did you mean member?\n"},
      {{"statsu", "--help"}, "there is no command \"statsu\"; did you mean status?\n"},
      {{"manger", "--help"}, "there is no command \"manger\"; did you mean manager?\n"},
      {{"up", "--membres", "--help"}, "there is no flag --membres; did you mean --members?\n"},
      {{"up", "--members", "many"}, "--members: \"many\" is not a number from 0 to 100\n"},
      {{"up", "-o", "yml"}, "--output: \"yml\" is none of text, json\n"},
      {{"up", "--ready-delay", "-1s"}, "--ready-delay: \"-1s\" is less than 0\n"},
      {{"demo", "--deadline", "0s"}, "--deadline: \"0s\" is not greater than 0\n"},
      {{"member", "dwn", "member1"}, "there is no command \"dwn\"; did you mean down?\n"},
  };
  for (const Case& c : cases) {
    INFO(c.said);
    const ParsedCommandLine parsed = Parse(c.words);
    CHECK(parsed.exit_code == 2);
    INFO(parsed.output);
    CHECK(absl::StrContains(parsed.output, c.said));
  }
}

TEST_CASE("pull members come after the others in up, and are some of the three in demo") {
  const ParsedCommandLine up = Parse({"up", "--members", "2", "--pull-members", "1"});
  REQUIRE_FALSE(up.exit_code.has_value());
  CHECK(up.options.fleet.members == 2);
  CHECK(up.options.fleet.pull_members == 1);
  const ParsedCommandLine demo = Parse({"demo", "--pull-members", "3"});
  REQUIRE_FALSE(demo.exit_code.has_value());
  CHECK(demo.options.fleet.members == 0);
  CHECK(demo.options.fleet.pull_members == 3);
  CHECK(Parse({"demo", "--pull-members", "4"}).exit_code == 2);
}

TEST_CASE("an agent is taken down and up by the name of its member") {
  const ParsedCommandLine down = Parse({"agent", "down", "member3", "--dir", "/x"});
  REQUIRE_FALSE(down.exit_code.has_value());
  CHECK(down.options.command == SandboxOptions::Command::kAgent);
  CHECK(down.options.member == "member3");
  CHECK(down.options.action == "down");
  CHECK(Parse({"agent", "join", "member3"}).exit_code == 2);
}

TEST_CASE("a member is taken down and up by name") {
  const ParsedCommandLine down = Parse({"member", "down", "member1", "--dir", "/x"});
  REQUIRE_FALSE(down.exit_code.has_value());
  CHECK(down.options.command == SandboxOptions::Command::kMember);
  CHECK(down.options.member == "member1");
  CHECK(down.options.action == "down");
  CHECK(down.options.directory == "/x");
  CHECK(Parse({"member", "up", "member1"}).options.action == "up");
  CHECK(Parse({"member", "join", "member1"}).options.action == "join");
  CHECK(Parse({"member", "up"}).exit_code == 2);
}

TEST_CASE("the controller manager is taken down and up") {
  const ParsedCommandLine down = Parse({"manager", "down", "--dir", "/x"});
  REQUIRE_FALSE(down.exit_code.has_value());
  CHECK(down.options.command == SandboxOptions::Command::kManager);
  CHECK(down.options.action == "down");
  CHECK(down.options.directory == "/x");
  CHECK(Parse({"manager", "up"}).options.action == "up");
  CHECK(Parse({"manager", "up", "member1"}).exit_code == 2);
}

TEST_CASE("what stands behind -- is for the controller manager") {
  const ParsedCommandLine up =
      Parse({"up", "--members", "1", "--", "--feature-gates=Failover=true", "--v=4"});
  INFO(up.output);
  REQUIRE_FALSE(up.exit_code.has_value());
  CHECK(up.options.fleet.members == 1);
  CHECK(up.options.manager_flags ==
        std::vector<std::string>{"--feature-gates=Failover=true", "--v=4"});
  CHECK_FALSE(up.options.fleet.enforce_quotas);
  CHECK(Parse({"demo", "--", "--v=4"}).options.manager_flags.size() == 1);
  CHECK(Parse({"up", "--"}).options.manager_flags.empty());
}

TEST_CASE("the gate of quotas makes the sandbox book them, as karmada-webhook does") {
  CHECK(Parse({"up", "--", "--feature-gates=FederatedQuotaEnforcement=true"})
            .options.fleet.enforce_quotas);
}

TEST_CASE(
    "the scheduler has the gates of the controller manager, with the defaults of the release") {
  config::FeatureGates gates =
      Parse({"up", "--", "--feature-gates=MultiplePodTemplatesScheduling=true"})
          .options.fleet.scheduler_gates;
  CHECK(gates.Enabled(config::Gate::kMultiplePodTemplatesScheduling));
  CHECK_FALSE(gates.Enabled(config::Gate::kPriorityBasedScheduling));
  gates.Emulate(config::Release::kV1_19);
  CHECK(gates.Enabled(config::Gate::kPriorityBasedScheduling));
}

TEST_CASE("up and demo take the release of the control plane") {
  CHECK_FALSE(Parse({"up"}).options.fleet.release.has_value());
  for (const char* command : {"up", "demo"}) {
    INFO(command);
    CHECK(Parse({command, "--emulated-karmada-version", "v1.19"}).options.fleet.release ==
          config::Release::kV1_19);
    CHECK(Parse({command, "--emulated-karmada-version=v1.18"}).options.fleet.release ==
          config::Release::kV1_18);
  }
  CHECK(Parse({"up", "--emulated-karmada-version=v1.17"}).exit_code == 2);
  CHECK(Parse({"status", "--emulated-karmada-version=v1.19"}).exit_code == 2);
}

TEST_CASE("wrong flags of the controller manager are refused before anything starts") {
  const ParsedCommandLine gate = Parse({"up", "--", "--feature-gates=Failovr=true"});
  CHECK(gate.exit_code == 2);
  CHECK(absl::StrContains(
      gate.output,
      "behind \"--\": --feature-gates: unrecognized feature gate: Failovr; did you mean "
      "Failover?\n"));
  const ParsedCommandLine elsewhere = Parse({"up", "--", "--kubeconfig=/x"});
  CHECK(elsewhere.exit_code == 2);
  CHECK(absl::StrContains(elsewhere.output, "works on the sandbox's control plane"));
  CHECK(Parse({"manager", "up", "--", "--v=4"}).exit_code == 2);
  for (const char* word : {"--help", "--version", "version", "permissions"}) {
    INFO(word);
    const ParsedCommandLine ends = Parse({"up", "--", word});
    CHECK(ends.exit_code == 2);
    CHECK(absl::StrContains(ends.output,
                            "behind \"--\": with these words the controller manager "
                            "prints something and ends"));
  }
  CHECK(Parse({"up", "--with-controller-manager", "off", "--", "--v=4"}).exit_code == 2);
  CHECK(Parse({"demo", "--with-controller-manager", "off"}).exit_code == 2);
  // Nobody knows the flags of another program.
  CHECK_FALSE(
      Parse({"up", "--with-controller-manager", "/x", "--", "--new"}).exit_code.has_value());
}

TEST_CASE("the status of a running sandbox is asked for") {
  const ParsedCommandLine status = Parse({"status", "--dir", "/x", "-o", "json"});
  REQUIRE_FALSE(status.exit_code.has_value());
  CHECK(status.options.command == SandboxOptions::Command::kStatus);
  CHECK(status.options.directory == "/x");
  CHECK(status.options.json);
}

TEST_CASE("help and version are commands and flags") {
  for (const char* help : {"help", "--help", "-h"}) {
    CHECK(Parse({help}).exit_code == 0);
    CHECK(Parse({help}).output == Parse({"--help"}).output);
  }
  CHECK(Parse({"help", "member", "down"}).output == Parse({"member", "down", "--help"}).output);
  CHECK(Parse({"help", "up", "--help"}).output == Parse({"up", "--help"}).output);
  CHECK(absl::StrContains(Parse({"help", "--help"}).output, "Usage: karmada-sandbox help "));
  CHECK(absl::StartsWith(Parse({"version"}).output, "karmada-sandbox version: version.Info{"));
  CHECK(Parse({"version"}).exit_code == 0);
  CHECK(absl::StartsWith(Parse({"--version"}).output, "v"));
}

}  // namespace
}  // namespace cmd
