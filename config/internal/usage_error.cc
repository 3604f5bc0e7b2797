#include "config/internal/usage_error.h"

#include <utility>
#include <vector>

#include <CLI/CLI.hpp>

#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "absl/strings/str_replace.h"
#include "absl/strings/str_split.h"
#include "absl/strings/string_view.h"
#include "absl/strings/strip.h"
#include "base/spelling.h"

namespace config::internal {
namespace {

constexpr absl::string_view kNotIn = " not in {";

// Returns the innermost (sub-)command that the command line names.
const CLI::App& Deepest(const CLI::App& app) {
  const std::vector<CLI::App*> chosen = app.get_subcommands();
  return chosen.empty() ? app : Deepest(*chosen.front());
}

std::vector<std::string> Commands(const CLI::App& app) {
  std::vector<std::string> names;
  for (const CLI::App* sub : app.get_subcommands(nullptr)) {
    if (!sub->get_name().empty()) names.push_back(sub->get_name());
  }
  return names;
}

std::vector<std::string> Flags(const CLI::App& app) {
  std::vector<std::string> names;
  for (const CLI::Option* option : app.get_options()) {
    for (const std::string& name : option->get_lnames()) names.push_back("--" + name);
  }
  return names;
}

std::string WantedBy(const CLI::App& app, const std::string& flag) {
  const CLI::Option* option = Deepest(app).get_option_no_throw(flag);
  const std::string type = option == nullptr ? "" : option->get_type_name();
  if (absl::StartsWith(type, "INT") || absl::StartsWith(type, "UINT")) return "a whole number";
  if (absl::StartsWith(type, "FLOAT")) return "a number";
  return option != nullptr && option->get_items_expected_max() == 0 ? "true or false"
                                                                    : "a value that it takes";
}

// Rewrites CLI11's "Could not convert: --v = abc".
std::string BadValue(const CLI::App& app, absl::string_view what) {
  absl::ConsumePrefix(&what, "Could not convert: ");
  const std::pair<std::string, std::string> parts = absl::StrSplit(what, absl::MaxSplits(" = ", 1));
  return absl::StrCat(parts.first, ": \"", parts.second, "\" is not ", WantedBy(app, parts.first));
}

// Rewrites CLI11's "--output: yml not in {text,json}"; "" for any other sentence.
std::string BadChoice(absl::string_view what) {
  const std::pair<absl::string_view, absl::string_view> flag_and_rest =
      absl::StrSplit(what, absl::MaxSplits(": ", 1));
  const size_t at = flag_and_rest.second.rfind(kNotIn);
  if (at == absl::string_view::npos || !absl::EndsWith(what, "}")) return "";
  absl::string_view choices = flag_and_rest.second.substr(at + kNotIn.size());
  choices.remove_suffix(1);
  return absl::StrCat(flag_and_rest.first, ": \"", flag_and_rest.second.substr(0, at),
                      "\" is none of ", absl::StrReplaceAll(choices, {{",", ", "}}));
}

}  // namespace

std::string UnknownCommand(const CLI::App& app, const std::string& word) {
  const std::vector<std::string> known = Commands(app);
  if (known.empty()) return absl::StrCat(app.get_name(), " takes no argument \"", word, "\"");
  const std::string meant = base::DidYouMean(word, known);
  return absl::StrCat("there is no command \"", word, "\"",
                      meant.empty() ? "; there are " + absl::StrJoin(known, ", ") : meant);
}

std::string UnknownWord(const CLI::App& app) {
  const std::vector<std::string> unknown = app.remaining(/*recurse=*/true);
  if (unknown.empty()) return "";
  const std::string word = unknown.front().substr(0, unknown.front().find('='));
  const CLI::App& command = Deepest(app);
  if (!absl::StartsWith(word, "-")) return UnknownCommand(command, word);
  return absl::StrCat("there is no flag ", word, base::DidYouMean(word, Flags(command)));
}

std::string UsageError(const CLI::App& app, const CLI::Error& error) {
  const std::string unknown = UnknownWord(app);
  if (!unknown.empty()) return unknown;
  const std::string what = error.what();
  const std::string& kind = error.get_name();
  if (kind == "RequiredError" && absl::StrContains(what, "subcommand")) {
    return absl::StrCat("a command is missing; there are ",
                        absl::StrJoin(Commands(Deepest(app)), ", "));
  }
  if (kind == "ConversionError") return BadValue(app, what);
  if (kind == "ValidationError") {
    const std::string choice = BadChoice(what);
    if (!choice.empty()) return choice;
  }
  if (kind == "ArgumentMismatch" && absl::EndsWith(what, " missing")) {
    return absl::StrCat(what.substr(0, what.find(':')), ": the value is missing");
  }
  return what;
}

}  // namespace config::internal
