// Adds flags to a CLI11 app so that they behave as those of Go's pflag: lists are comma-separated
// and may be repeated, switches take "=false", names may be written with underscores, and an empty
// value is a value. NormalizedWords rewrites what CLI11 does not understand before it parses. CLI11
// knows a flag's default only as text, so the defaults of switches are read back from the end of
// their help.

#include "config/flag_types.h"

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <iterator>
#include <utility>

#include "absl/strings/match.h"
#include "absl/strings/numbers.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "absl/strings/str_split.h"
#include "absl/strings/strip.h"
#include "config/duration.h"
#include "config/internal/word_completion.h"

namespace config {
namespace {

// How the help of a switch ends; CLI11 keeps the defaults of other flags only.
constexpr char kOnByDefault[] = " (default: true)";
constexpr char kOffByDefault[] = " (default: false)";

absl::Status CheckValue(FlagType type, const std::string& text) {
  double number = 0;
  int64_t integer = 0;
  absl::Duration duration;
  bool on = false;
  switch (type) {
    case FlagType::kDuration:
      return ParseGoDuration(text, duration);
    case FlagType::kInteger:
      if (absl::SimpleAtoi(text, &integer)) return absl::OkStatus();
      return absl::InvalidArgumentError(absl::StrCat("\"", text, "\" is not an integer"));
    case FlagType::kNumber:
      if (absl::SimpleAtod(text, &number)) return absl::OkStatus();
      return absl::InvalidArgumentError(absl::StrCat("\"", text, "\" is not a number"));
    case FlagType::kSwitch:
      if (absl::SimpleAtob(text, &on)) return absl::OkStatus();
      return absl::InvalidArgumentError(absl::StrCat("\"", text, "\" is neither true nor false"));
    case FlagType::kText:
      return absl::OkStatus();
  }
  return absl::OkStatus();
}

std::string DefaultOf(const CLI::Option& option) {
  if (option.get_expected_max() == 0) {
    return absl::EndsWith(option.get_description(), kOnByDefault) ? "true" : "false";
  }
  // CLI11 writes the default of a list as "[a,b]".
  const std::string text = option.get_default_str();
  return std::string(absl::StripSuffix(absl::StripPrefix(text, "["), "]"));
}

}  // namespace

CLI::Option* AddDuration(CLI::App& app, const std::string& name, absl::Duration& target,
                         const std::string& help) {
  return app
      .add_option_function<std::string>(
          name,
          [&target, name](const std::string& text) {
            const absl::Status parsed = ParseGoDuration(text, target);
            if (!parsed.ok()) throw CLI::ValidationError(name, std::string(parsed.message()));
          },
          help)
      ->type_name("DURATION")
      ->default_str(absl::FormatDuration(target));
}

CLI::Option* AddList(CLI::App& app, const std::string& name, std::vector<std::string>& target,
                     const std::string& help) {
  return app.add_option(name, target, help)
      ->delimiter(',')
      ->expected(1)
      ->allow_extra_args(false)
      ->multi_option_policy(CLI::MultiOptionPolicy::TakeAll)
      ->capture_default_str();
}

void AddSwitch(CLI::App& app, const std::string& name, bool& target, const std::string& help) {
  app.add_flag(name, target, absl::StrCat(help, target ? kOnByDefault : kOffByDefault));
}

CLI::Option* AddCheckedFlag(CLI::App& app, absl::string_view flag, FlagType type,
                            const std::string& help) {
  const std::string name(flag);
  if (type == FlagType::kSwitch) {
    return app.add_flag(name, help)
        ->check(
            [](const std::string& text) {
              return std::string(CheckValue(FlagType::kSwitch, text).message());
            },
            "");
  }
  CLI::Option* option = app.add_option_function<std::string>(
      name,
      [type, name](const std::string& text) {
        const absl::Status valid = CheckValue(type, text);
        if (!valid.ok()) throw CLI::ValidationError(name, std::string(valid.message()));
      },
      help);
  return type == FlagType::kDuration ? option->type_name("duration") : option;
}

bool IsGiven(const CLI::App& app, absl::string_view name) {
  return app.get_option(std::string(name))->count() > 0;
}

std::string GivenValue(const CLI::App& app, absl::string_view name) {
  const CLI::Option* option = app.get_option(std::string(name));
  if (option->count() == 0 || option->results().empty()) return "";
  const std::string& last = option->results().back();
  bool on = false;
  const bool is_switch = option->get_expected_max() == 0 && absl::SimpleAtob(last, &on);
  return is_switch ? (on ? "true" : "false") : last;
}

std::vector<std::string> NormalizedWords(int argc, const char* const* argv) {
  // Words to complete stay as they were typed: a candidate has to begin with them.
  if (argc > 1 && argv[1] == absl::string_view(internal::kCompleteWord)) {
    return {std::reverse_iterator(argv + argc), std::reverse_iterator(argv + 1)};
  }
  std::vector<std::string> out;
  for (int i = argc - 1; i > 0; --i) {
    std::string argument = argv[i];
    if (absl::StartsWith(argument, "--")) {
      // Only the name is changed: a value may have underscores.
      const auto name_end = argument.begin() + static_cast<std::ptrdiff_t>(
                                                   std::min(argument.find('='), argument.size()));
      std::replace(argument.begin(), name_end, '_', '-');
    }
    // CLI11 takes "=" after long names only.
    if (absl::StartsWith(argument, "-v=")) argument.insert(0, "-");
    // The words are in reverse order, so the value is pushed before its flag.
    const bool is_empty = absl::StartsWith(argument, "--") && absl::EndsWith(argument, "=");
    if (is_empty) {  // CLI11 needs the flag and an empty value after it.
      argument.pop_back();
      out.emplace_back();
    }
    out.push_back(std::move(argument));
  }
  return out;
}

std::string ChangedFlags(const CLI::App& app) {
  std::vector<std::string> changed;
  for (const CLI::Option* option : app.get_options()) {
    if (option->count() == 0 || option->get_lnames().empty()) continue;
    const std::string value = absl::StrJoin(option->results(), ",");
    if (value == option->get_default_str()) continue;
    changed.push_back(absl::StrCat("--", option->get_lnames().front(), "=", value));
  }
  return absl::StrJoin(changed, " ");
}

std::map<std::string, std::string> EffectiveFlags(const CLI::App& app) {
  std::map<std::string, std::string> flags;
  for (const CLI::Option* option : app.get_options()) {
    if (option->get_lnames().empty()) continue;
    std::string value = absl::StrJoin(option->reduced_results(), ",");
    if (option->count() == 0) value = DefaultOf(*option);
    flags[option->get_lnames().front()] = std::move(value);
  }
  return flags;
}

absl::Status CheckVmodule(absl::string_view text) {
  for (const absl::string_view entry : absl::StrSplit(text, ',', absl::SkipEmpty())) {
    const std::vector<absl::string_view> parts = absl::StrSplit(entry, '=');
    int level = 0;
    if (parts.size() == 2 && !parts[0].empty() && absl::SimpleAtoi(parts[1], &level) &&
        level >= 0) {
      continue;
    }
    return absl::InvalidArgumentError(
        absl::StrCat("--vmodule: \"", entry, "\" is not pattern=N, such as binding-controller=4"));
  }
  return absl::OkStatus();
}

}  // namespace config
