#include "config/internal/word_completion.h"

#include <algorithm>

#include <CLI/CLI.hpp>
#include <catch2/catch.hpp>

#include "absl/strings/match.h"
#include "absl/strings/str_join.h"
#include "absl/strings/str_split.h"
#include "config/command_line.h"
#include "config/options.h"

namespace config {
namespace {

// A program with a command, flags of every sort, and arguments.
struct Program {
  Program() : app("Shows things.", "shower") {
    CLI::App* show = app.add_subcommand("show", "Show a thing");
    app.add_subcommand("shut", "Shut it");
    app.add_subcommand("secret", "Not for users")->group("");
    show->add_option("-o,--output", format, "how to print")
        ->check(CLI::IsMember({"text", "json"}))
        ->type_name("FORMAT");
    show->add_option("-f,--filename", file, "what to read\nin full")->type_name("FILE");
    show->add_option("--dir", directory, "where")->type_name("DIRECTORY");
    show->add_option("--level", level, "how much")->type_name("LEVEL");
    show->add_flag("-q,--quiet", quiet, "less");
    show->add_option("KIND", kind, "which")->check(CLI::IsMember({"pod", "node"}));
    show->add_option("PATH", paths, "files of things");
    AddHelpAndVersion(app);
  }

  // Returns the answer in Cobra's form without helps, its lines joined by spaces.
  std::string Answer(std::vector<std::string> words) {
    words.insert(words.begin(), internal::kCompleteWord);
    std::reverse(words.begin(), words.end());
    const auto answer = ParseWords(app, std::move(words));
    REQUIRE(answer.ok());
    std::vector<std::string> lines;
    for (const absl::string_view line : absl::StrSplit(*answer, '\n', absl::SkipEmpty())) {
      lines.emplace_back(line.substr(0, line.find('\t')));
    }
    return absl::StrJoin(lines, " ");
  }

  CLI::App app;
  std::string format, file, directory, level, kind;
  std::vector<std::string> paths;
  bool quiet = false;
};

TEST_CASE("commands that begin with the word complete it, and hidden ones do not") {
  Program program;
  CHECK(program.Answer({""}) == "show shut version completion help :4");
  CHECK(program.Answer({"sh"}) == "show shut :4");
  CHECK(program.Answer({"sec"}) == ":4");
}

TEST_CASE("the flags of the command that stands before it complete a dash") {
  Program program;
  CHECK(program.Answer({"--v"}) == "--version :4");
  CHECK(program.Answer({"show", "--"}) == "--help --output --filename --dir --level --quiet :4");
  CHECK(program.Answer({"show", "--unknown"}) == ":4");
}

TEST_CASE("a flag's value is one of its choices, a file, a directory, or anything") {
  Program program;
  CHECK(program.Answer({"show", "--output", ""}) == "text json :4");
  CHECK(program.Answer({"show", "-o", "j"}) == "json :4");
  CHECK(program.Answer({"show", "--output=j"}) == "--output=json :4");
  CHECK(program.Answer({"show", "--filename", "x"}) == ":0");
  CHECK(program.Answer({"show", "--filename=x"}) == ":0");
  CHECK(program.Answer({"show", "--dir", ""}) == ":16");
  CHECK(program.Answer({"show", "--level", ""}) == ":4");
  CHECK(program.Answer({"show", "--quiet=x"}) == ":4");
}

TEST_CASE("a flag's value is neither a command nor an argument, and a switch has none") {
  Program program;
  CHECK(program.Answer({"show", "--level", "show", "p"}) == "pod :4");
  CHECK(program.Answer({"show", "--quiet", "n"}) == "node :4");
  CHECK(program.Answer({"show", "--output=json", ""}) == "pod node :4");
}

TEST_CASE("arguments complete in their order, behind two dashes only they") {
  Program program;
  CHECK(program.Answer({"show", ""}) == "pod node :4");
  CHECK(program.Answer({"show", "pod", ""}) == ":0");
  CHECK(program.Answer({"show", "pod", "a", "b", ""}) == ":0");
  CHECK(program.Answer({"show", "--", "-"}) == ":4");
  CHECK(program.Answer({"show", "--", "p"}) == "pod :4");
  CHECK(program.Answer({}) == ":4");
}

TEST_CASE("a candidate has the first line of its help") {
  Program program;
  const auto found = internal::Complete(program.app, {"show", "--fi"});
  CHECK(internal::CobraAnswer(found) == "--filename\twhat to read\n:4\n");
}

TEST_CASE("the words of the controller manager stay as they were typed while they are completed") {
  const char* words[] = {"karmada-controller-manager", "__complete", "--leader-elect-lease"};
  const Parsed parsed = ParseCommandLine(3, words);
  CHECK(parsed.exit_code == 0);
  CHECK(absl::StartsWith(parsed.output, "--leader-elect-lease-duration\t"));
}

}  // namespace
}  // namespace config
