// The command line of karmada-lens: help, exit codes, the name as a plugin.
#include <catch2/catch.hpp>
#include <sstream>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_split.h"
#include "cmd/lens/tree.h"
#include "tests/cmd/lens/tool.h"

using Catch::Contains;
using tests::Ran;
using tests::RunLens;

// All sub-commands that this program has beside `help` and `version`.
constexpr const char* kCommands[] = {"explain", "graph", "plan", "preflight", "serve", "why"};

TEST_CASE("Lens: help names the sub-commands and exit codes, and each has examples") {
  const Ran help = RunLens({"--help"});
  CHECK(help.code == 0);
  CHECK_THAT(help.out, Contains("Exit codes:"));
  for (const char* name : kCommands) {
    CHECK_THAT(help.out, Contains(absl::StrCat("\n  ", name, " ")));
    const Ran one = RunLens({name, "--help"});
    CHECK(one.code == 0);
    CHECK_THAT(one.out, Contains("Examples:\n") && Contains(absl::StrCat("karmada-lens ", name)));
  }
}

TEST_CASE("Lens: a wrong command line ends with 1, because 2 says that something was found") {
  for (const char* words : {"", "dance", "plan", "plan -f /nowhere", "plan -f - --clusters many",
                            "why", "why deployment/web -o xml", "why web --kubeconfig /nowhere"}) {
    INFO(words);
    const Ran ran = RunLens(absl::StrSplit(words, ' ', absl::SkipEmpty()));
    CHECK(ran.code == 1);
    CHECK(ran.out.empty());
    CHECK_FALSE(ran.err.empty());
  }
}

TEST_CASE("Lens: a message in the tree is one line and cannot steer the terminal") {
  using ::lens::why::Mark;
  const ::lens::why::Node root{
      Mark::kNote, "a\x1b[2J", {{Mark::kStuck, "it says: no\n└─ [ok] faked"}}};
  CHECK(cmd::lens::TreeText(root, tool::Colours(false)) ==
        "[note] a\\x1b[2J\n└─ [stuck] it says: no\\n└─ [ok] faked\n");
}

TEST_CASE("Lens: as a kubectl plugin it uses the name that the user typed") {
  std::istringstream in;
  std::ostringstream out, err;
  tool::Console console{in, out, err};
  tool::CommandLine line(cmd::lens::ThisProgram(), "/usr/local/bin/kubectl-karmada_lens");
  cmd::lens::AddAllCommands(line);
  const char* argv[] = {"kubectl-karmada_lens", "why", "--help"};
  CHECK(line.Run(3, argv, console) == 0);
  CHECK_THAT(out.str(), Contains("kubectl karmada-lens why deployment/web"));
}
