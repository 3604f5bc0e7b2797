#include "config/internal/option_checks.h"

#include <map>
#include <string>

#include "absl/strings/strip.h"
#include "config/flag_types.h"
#include "config/internal/unused_flags.h"
#include "config/support.h"

namespace config::internal {

std::map<std::string, std::string> SettingsOf(const CLI::App& app) {
  std::map<std::string, std::string> settings = EffectiveFlags(app);
  // These are not settings.
  settings.erase("help");
  settings.erase("version");
  for (const Support& flag : UnusedFlagSupport()) {
    settings.erase(std::string(absl::StripPrefix(flag.name, "--")));
  }
  return settings;
}

}  // namespace config::internal
