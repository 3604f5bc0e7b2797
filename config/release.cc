#include "config/release.h"

#include <CLI/CLI.hpp>

namespace config {

void AddReleaseFlag(CLI::App& app, std::optional<Release>& target, const std::string& help) {
  app.add_option_function<std::string>(
         std::string(kReleaseFlag),
         [&target](const std::string& text) { target = kReleases.Named(text); }, help)
      ->check(CLI::IsMember(kReleases.Texts()))
      ->type_name("VERSION");
}

}  // namespace config
