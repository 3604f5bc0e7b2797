#include "config/internal/completion_tree.h"

#include <utility>

#include <CLI/CLI.hpp>

#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_split.h"
#include "config/internal/listed_values.h"

namespace config::internal {
namespace {

std::string FirstLine(const std::string& text) { return text.substr(0, text.find('\n')); }

// CLI11 describes a set of values as "FORMAT:{json,yaml}".
std::vector<std::string> ValuesOf(const std::string& type) {
  const size_t open = type.find('{'), close = type.rfind('}');
  if (open == std::string::npos || close == std::string::npos || close < open) return {};
  return absl::StrSplit(type.substr(open + 1, close - open - 1), ',');
}

CompletedFlag FlagOf(const CLI::Option& option) {
  CompletedFlag flag;
  if (!option.get_lnames().empty()) flag.name = option.get_lnames().front();
  if (!option.get_snames().empty()) flag.letter = option.get_snames().front();
  flag.help = FirstLine(option.get_description());
  const std::string type = option.get_type_name();
  flag.takes_value = option.get_items_expected_min() > 0;
  if (!flag.takes_value) return flag;
  flag.takes_path = absl::StartsWith(type, "FILE") || absl::StartsWith(type, "DIRECTORY") ||
                    absl::StartsWith(type, "PROGRAM");
  flag.values = ValuesOf(type);
  if (flag.values.empty()) flag.values = ListedValuesOf(option);
  return flag;
}

CompletedCommand CommandOf(const CLI::App& app, std::vector<std::string> path) {
  CompletedCommand command;
  command.path = std::move(path);
  command.help = FirstLine(app.get_description());
  for (const CLI::Option* option : app.get_options()) {
    if (option->get_positional() || option->get_group().empty()) continue;
    command.flags.push_back(FlagOf(*option));
  }
  for (const CLI::App* below : app.get_subcommands(nullptr)) {
    std::vector<std::string> further = command.path;
    further.push_back(below->get_name());
    command.commands.push_back(CommandOf(*below, std::move(further)));
  }
  return command;
}

}  // namespace

std::vector<std::string> CompletedFlag::Spellings() const {
  std::vector<std::string> all;
  if (!name.empty()) all.push_back(absl::StrCat("--", name));
  if (!letter.empty()) all.push_back(absl::StrCat("-", letter));
  return all;
}

CompletedCommand CompletionTree(const CLI::App& app) { return CommandOf(app, {}); }

std::vector<const CompletedCommand*> AllCommands(const CompletedCommand& root) {
  std::vector<const CompletedCommand*> all = {&root};
  for (size_t i = 0; i < all.size(); ++i) {
    for (const CompletedCommand& below : all[i]->commands) all.push_back(&below);
  }
  return all;
}

}  // namespace config::internal
