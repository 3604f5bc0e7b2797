#include "cmd/lens/flags.h"

#include <CLI/CLI.hpp>

#include "absl/strings/str_join.h"
#include "base/enumerated.h"
#include "config/flag_types.h"
#include "config/options.h"

namespace cmd::lens {

void AddSkipFlags(CLI::App& app, std::string& apis, std::vector<std::string>& namespaces) {
  app.add_option("--skipped-propagating-apis", apis,
                 "this flag of karmada-controller-manager, if it is set there")
      ->type_name("APIS");
  app.add_option("--skipped-propagating-namespaces", namespaces,
                 "this flag of karmada-controller-manager, if it is set there")
      ->delimiter(',')
      ->default_str(absl::StrJoin(config::Options().skipped_propagating_namespaces, ","))
      ->type_name("PATTERNS");
}

void AddCombinedFlag(CLI::App& app, interpreter::customized::MergeOptions& merge) {
  app.add_flag("--combined-customizations", merge.combined,
               "karmada-controller-manager has the feature gate CombinedCustomizations");
}

void AddOutputFlag(CLI::App& app, Output& output) {
  constexpr auto kOutputs =
      base::Enumerate<Output>({{Output::kText, "text"}, {Output::kJson, "json"}});
  config::AddChoice(app, "-o,--output", output, kOutputs, "how to print the answer")
      ->type_name("FORMAT");
}

void AddPageFlag(CLI::App& app, Output& output) {
  constexpr auto kOutputs = base::Enumerate<Output>(
      {{Output::kText, "text"}, {Output::kJson, "json"}, {Output::kHtml, "html"}});
  config::AddChoice(app, "-o,--output", output, kOutputs,
                    "how to print the answer; html: a page of its own, to open in a browser")
      ->type_name("FORMAT");
}

}  // namespace cmd::lens
