// Flags of the kinds that several programs have, for their command lines.
#ifndef CONFIG_FLAG_TYPES_H_
#define CONFIG_FLAG_TYPES_H_

#include <cstddef>
#include <map>
#include <string>
#include <vector>

#include <CLI/CLI.hpp>

#include "absl/status/status.h"
#include "absl/strings/string_view.h"
#include "absl/time/time.h"
#include "base/enumerated.h"

namespace config {

// A duration in Go's format.
CLI::Option* AddDuration(CLI::App& app, const std::string& name, absl::Duration& target,
                         const std::string& help);

template <class T>
CLI::Option* AddValue(CLI::App& app, const std::string& name, T& target, const std::string& help) {
  return app.add_option(name, target, help)->capture_default_str();
}

// Comma-separated, and may be repeated.
CLI::Option* AddList(CLI::App& app, const std::string& name, std::vector<std::string>& target,
                     const std::string& help);

// A flag whose values are the texts of an enumeration; its help names the present value as the
// default. `target` must outlive `app`.
template <class Enum, size_t N>
CLI::Option* AddChoice(CLI::App& app, const std::string& names, Enum& target,
                       const base::Enumerated<Enum, N>& choices, const std::string& help) {
  return app
      .add_option_function<std::string>(
          names,
          [&target, choices](const std::string& text) { target = choices.Named(text).value(); },
          help)
      ->check(CLI::IsMember(choices.Texts()))
      ->default_str(std::string(choices.TextOf(target)));
}

void AddSwitch(CLI::App& app, const std::string& name, bool& target, const std::string& help);

// What the value of a flag must be like, whatever is done with it.
enum class FlagType { kSwitch, kDuration, kInteger, kNumber, kText };

// Adds a flag that is only checked. Its value is read with GivenValue.
CLI::Option* AddCheckedFlag(CLI::App& app, absl::string_view name, FlagType type,
                            const std::string& help);

// Returns the last value that was given, for switches "true" or "false"; "" when the flag was not
// given. REQUIRES: `app` has been parsed and has the flag.
std::string GivenValue(const CLI::App& app, absl::string_view name);
bool IsGiven(const CLI::App& app, absl::string_view name);

// Returns the words of a command line without the program's name, the last one first (as CLI11
// takes them), in the forms that Go accepts: underscores in the names of flags, -v=3, --flag=.
std::vector<std::string> NormalizedWords(int argc, const char* const* argv);

// Returns the flags that were given and differ from their defaults: "--v=2 --controllers=*".
std::string ChangedFlags(const CLI::App& app);

// Returns each flag without its dashes, and the value that was given, or its default.
std::map<std::string, std::string> EffectiveFlags(const CLI::App& app);

// kInvalidArgument when an entry of --vmodule is not pattern=N.
absl::Status CheckVmodule(absl::string_view text);

}  // namespace config

#endif  // CONFIG_FLAG_TYPES_H_
