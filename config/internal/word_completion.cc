// Completes the last of some words. It does not parse the words before it, since a command line
// that is being typed is seldom valid: it steps over them one by one (Pass) and keeps only where it
// is, which command, which flag waits for its value, and how many arguments there were. Unknown
// flags are stepped over as if they took no value. Candidates then come from the declarations in
// CLI11: commands, names of flags, and the values that a flag accepts.

#include "config/internal/word_completion.h"

#include <algorithm>
#include <cstddef>
#include <utility>

#include <CLI/CLI.hpp>

#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_replace.h"
#include "absl/strings/str_split.h"
#include "config/internal/listed_values.h"

namespace config::internal {
namespace {

using Files = Completions::Files;

// Where on the command line the word to complete stands.
struct Place {
  const CLI::App* command;
  const CLI::Option* waiting = nullptr;  // The flag whose value the word is.
  size_t arguments = 0;                  // How many arguments stand before it.
  bool after_dashes = false;             // Behind "--" all words are arguments.
};

bool TakesValue(const CLI::Option& option) { return option.get_items_expected_max() > 0; }

// Returns the flag that a word without its value names; nullptr when there is none.
const CLI::Option* FlagNamed(const CLI::App& command, const std::string& word) {
  const CLI::Option* option = command.get_option_no_throw(word);
  return option != nullptr && option->nonpositional() ? option : nullptr;
}

const CLI::App* CommandNamed(const CLI::App& command, const std::string& word) {
  for (const CLI::App* below : command.get_subcommands(nullptr)) {
    if (below->get_name() == word) return below;
  }
  return nullptr;
}

void Pass(Place& place, const std::string& word) {
  if (place.waiting != nullptr) {
    place.waiting = nullptr;
    return;
  }
  if (word == "--" && !place.after_dashes) {
    place.after_dashes = true;
    return;
  }
  if (!place.after_dashes && absl::StartsWith(word, "-") && word != "-") {
    const CLI::Option* flag = FlagNamed(*place.command, word);
    if (flag != nullptr && TakesValue(*flag)) place.waiting = flag;
    return;
  }
  // A command's name behind an argument is an argument.
  const CLI::App* below = place.arguments == 0 ? CommandNamed(*place.command, word) : nullptr;
  if (below != nullptr) {
    place.command = below;
  } else {
    ++place.arguments;
  }
}

// Returns the values of a flag that takes some only: CLI11 has them in the name of its type, as in
// "FORMAT:{yaml,json}".
std::vector<std::string> ChoicesOf(const CLI::Option& option) {
  const std::string type = option.get_type_name();
  const size_t begin = type.find(":{");
  if (begin == std::string::npos || !absl::EndsWith(type, "}")) return {};
  return absl::StrSplit(absl::string_view(type).substr(begin + 2, type.size() - begin - 3), ',');
}

// The name of a flag's type says whether its value is a file.
Files FilesOf(const CLI::Option& option) {
  std::string type = option.get_type_name();
  if (option.get_positional() && type == "TEXT") type = option.get_name(/*positional=*/true);
  if (type == "DIRECTORY") return Files::kDirectories;
  for (const absl::string_view named : {"FILE", "PATH", "PROGRAM", "OBJECT", "TEXT"}) {
    if (type == named) return Files::kAny;
  }
  return Files::kNone;
}

void AddIfBegun(Completions& out, absl::string_view begun, std::string text, std::string help) {
  if (!absl::StartsWith(text, begun)) return;
  const std::vector<std::string> lines = absl::StrSplit(help, absl::MaxSplits('\n', 1));
  out.candidates.push_back({std::move(text), absl::StrReplaceAll(lines.front(), {{"\t", " "}})});
}

// `before` is what the whole word has before the value: "" or "--flag=".
Completions ValuesOf(const CLI::Option& option, absl::string_view begun, absl::string_view before) {
  Completions out;
  const std::vector<std::string> choices = ChoicesOf(option);
  for (const std::string& choice : choices) {
    AddIfBegun(out, absl::StrCat(before, begun), absl::StrCat(before, choice), "");
  }
  const std::vector<std::string> items = ListedValuesOf(option);
  // Only the last item of a list is completed.
  const size_t comma = begun.rfind(',');
  const size_t done = comma == absl::string_view::npos ? 0 : comma + 1;
  for (const std::string& item : items) {
    AddIfBegun(out, absl::StrCat(before, begun), absl::StrCat(before, begun.substr(0, done), item),
               "");
  }
  if (choices.empty() && items.empty()) out.files = FilesOf(option);
  return out;
}

Completions FlagsOf(const CLI::App& command, absl::string_view begun) {
  Completions out;
  for (const CLI::Option* option : command.get_options()) {
    if (option->get_group().empty()) continue;  // Not in --help either.
    const std::string& help = option->get_description();
    for (const std::string& name : option->get_lnames()) {
      AddIfBegun(out, begun, absl::StrCat("--", name), help);
    }
    if (!option->get_lnames().empty()) continue;
    for (const std::string& name : option->get_snames()) {
      AddIfBegun(out, begun, absl::StrCat("-", name), help);
    }
  }
  return out;
}

// Returns the argument of which `before` stand before the word; the last one may be repeated.
const CLI::Option* ArgumentAfter(const CLI::App& command, size_t before) {
  for (const CLI::Option* option : command.get_options()) {
    if (!option->get_positional()) continue;
    const auto most = static_cast<size_t>(std::max(option->get_items_expected_max(), 1));
    if (before < most) return option;
    before -= most;
  }
  return nullptr;
}

Completions WordsOf(const Place& place, absl::string_view begun) {
  Completions out;
  if (const CLI::Option* argument = ArgumentAfter(*place.command, place.arguments)) {
    out = ValuesOf(*argument, begun, "");
  }
  if (place.arguments > 0) return out;
  for (const CLI::App* below : place.command->get_subcommands(nullptr)) {
    if (below->get_group().empty()) continue;
    AddIfBegun(out, begun, below->get_name(), below->get_description());
  }
  return out;
}

}  // namespace

Completions Complete(const CLI::App& app, const std::vector<std::string>& words) {
  if (words.empty()) return {};
  Place place{&app};
  for (size_t i = 0; i + 1 < words.size(); ++i) Pass(place, words[i]);
  const std::string& begun = words.back();
  if (place.waiting != nullptr) return ValuesOf(*place.waiting, begun, "");
  if (place.after_dashes || !absl::StartsWith(begun, "-")) return WordsOf(place, begun);
  const size_t equals = begun.find('=');
  if (equals == std::string::npos) return FlagsOf(*place.command, begun);
  const CLI::Option* flag = FlagNamed(*place.command, begun.substr(0, equals));
  if (flag == nullptr || !TakesValue(*flag)) return {};
  const absl::string_view whole = begun;
  return ValuesOf(*flag, whole.substr(equals + 1), whole.substr(0, equals + 1));
}

std::string CobraAnswer(const Completions& completions) {
  constexpr int kNoFiles = 4, kDirectories = 16;
  std::string text;
  for (const Completions::Candidate& candidate : completions.candidates) {
    absl::StrAppend(&text, candidate.text, candidate.help.empty() ? "" : "\t", candidate.help,
                    "\n");
  }
  const int directives = completions.files == Files::kNone          ? kNoFiles
                         : completions.files == Files::kDirectories ? kDirectories
                                                                    : 0;
  return absl::StrCat(text, ":", directives, "\n");
}

}  // namespace config::internal
