#include "cmd/interpret/flags.h"

#include <CLI/CLI.hpp>
#include <cstdint>
#include <limits>

#include "absl/strings/numbers.h"
#include "absl/strings/str_cat.h"

namespace cmd::interpret {

void AddInputFlags(CLI::App& app, LayerOptions& options) {
  tool::AddRepeatable(
      app, "-f,--filename,--customization", options.customizations,
      "file or directory of ResourceInterpreterCustomizations, - for standard input, or "
      "TYPE/NAME of a live one; may be repeated")
      ->type_name("FILE");
  app.add_flag("-R,--recursive", options.recursive, "also read directories below directories");
  app.add_flag("--combined-customizations", options.merge.combined,
               "answer as the controller manager does with the feature gate "
               "CombinedCustomizations: spec.additionalTargets counts, and all customizations of a "
               "kind retain");
  tool::AddLiveFlags(app, options.live);
}

void AddLayerFlags(CLI::App& app, LayerOptions& options) {
  AddInputFlags(app, options);
  tool::AddRepeatable(
      app, "--webhook", options.webhooks,
      "file or directory of webhook configurations of both kinds, whose servers are "
      "called, and of CustomResourceDefinitions; - or TYPE/NAME as for -f; may be "
      "repeated")
      ->type_name("FILE");
  app.add_flag("--no-shipped", options.no_shipped, "leave out the shipped customizations");
  app.add_flag("--no-native", options.no_native, "leave out the built-in rules");
}

void CheckReplicas(CLI::Option& option) {
  const auto check = [](const std::string& text) -> std::string {
    int32_t replicas = 0;
    if (absl::SimpleAtoi(text, &replicas) && replicas >= 0) return "";
    return absl::StrCat(text, " is not a number from 0 to ", std::numeric_limits<int32_t>::max());
  };
  option.check(check, "");
}

}  // namespace cmd::interpret
