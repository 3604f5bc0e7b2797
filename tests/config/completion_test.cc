#include <string>
#include <vector>

#include <catch2/catch.hpp>

#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "base/json.h"
#include "base/yaml.h"
#include "config/command_line.h"
#include "config/internal/completion_scripts.h"
#include "config/internal/completion_tree.h"
#include "config/options.h"
#include "config/version.h"

namespace {

using config::internal::CompletedCommand;
using config::internal::CompletedFlag;
using config::internal::CompletionScript;

constexpr char kProgram[] = "karmada-controller-manager";
const std::vector<std::string> kShells = {"bash", "fish", "powershell", "zsh"};

config::Parsed Parse(const std::vector<std::string>& words) {
  std::vector<const char*> argv = {kProgram};
  for (const std::string& word : words) argv.push_back(word.c_str());
  return config::ParseCommandLine(static_cast<int>(argv.size()), argv.data());
}

std::string Answer(const std::vector<std::string>& words) {
  const config::Parsed parsed = Parse(words);
  CHECK(parsed.outcome == config::Parsed::Outcome::kExit);
  CHECK(parsed.exit_code == 0);
  return parsed.output;
}

}  // namespace

TEST_CASE("the version is printed in the format that is asked for") {
  CHECK(Answer({"version", "-o", "short"}) == absl::StrCat(config::Version(), "\n"));
  const std::string text = Answer({"version", "--output=json"});
  CHECK(*json::Parse(text) == config::VersionInfo());
  CHECK(absl::StrContains(text, "\n  \"gitVersion\""));
  CHECK(*yaml::Parse(Answer({"version", "-o", "yaml"})) == config::VersionInfo());
  CHECK(Answer({"version"}) == config::VersionText(kProgram));
  CHECK(Parse({"version", "-o", "xml"}).exit_code == config::kUsageExitCode);
}

TEST_CASE("controllers and feature gates complete, the last one of a list as well") {
  const auto lines = [](const std::string& word) { return Answer({"__complete", word}); };
  CHECK(lines("--controllers=clustert") == "--controllers=clustertaintpolicy\n:4\n");
  CHECK(lines("--controllers=remedy,clustert") == "--controllers=remedy,clustertaintpolicy\n:4\n");
  CHECK(lines("--feature-gates=MultiC") == "--feature-gates=MultiClusterService=true\n:4\n");
  CHECK(lines("--feature-gates=Propagate") == "--feature-gates=PropagateDeps=false\n:4\n");
  for (const std::string& shell : kShells) {
    const std::string script = Answer({"completion", shell});
    CAPTURE(shell);
    CHECK(absl::StrContains(script, "clustertaintpolicy"));
    CHECK(absl::StrContains(script, "MultiClusterService=true"));
  }
}

TEST_CASE("completion is for one of four shells, and knows the flags that are shown") {
  for (const std::string& shell : kShells) {
    const std::string script = Answer({"completion", shell});
    CAPTURE(shell);
    CHECK(absl::StrContains(script, absl::StrCat(kProgram, "\n\n")));
    CHECK(absl::StrContains(script, "resync-period"));
    CHECK_FALSE(absl::StrContains(script, "logtostderr"));
    CHECK(absl::StrContains(Answer({"completion", shell, "--help"}),
                            absl::StrCat(kProgram, " completion ", shell)));
  }
  CHECK(absl::StrContains(Answer({"completion", "bash"}),
                          R"(' --success-events') printf '%s\n' 'concise upstream')"));
  CHECK(Parse({"completion", "tcsh"}).exit_code == config::kUsageExitCode);
  CHECK(Parse({"completion"}).exit_code == config::kUsageExitCode);
}

TEST_CASE("texts of a program are quoted for each shell") {
  CompletedFlag colour;
  colour.name = "colour";
  colour.help = "it's a $(colour) \\";
  CompletedCommand root;
  root.flags = {colour};
  const auto in = [&root](absl::string_view shell) { return CompletionScript(root, "p", shell); };
  CHECK(absl::StrContains(in("zsh"), R"(--colour:it'\''s a $(colour) \')"));
  CHECK(absl::StrContains(in("fish"), R"(-d 'it\'s a $(colour) \\')"));
  CHECK(absl::StrContains(in("powershell"), R"('it''s a $(colour) \')"));
  CHECK_FALSE(absl::StrContains(in("bash"), "$(colour)"));
}
