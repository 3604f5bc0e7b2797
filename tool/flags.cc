#include "tool/flags.h"

#include <CLI/CLI.hpp>

#include "absl/strings/str_cat.h"
#include "base/enumerated.h"
#include "base/json.h"
#include "base/yaml.h"
#include "config/flag_types.h"
#include "kube/meta/selector.h"

namespace tool {

CLI::Option* AddRepeatable(CLI::App& app, const std::string& names,
                           std::vector<std::string>& values, const std::string& help) {
  return app.add_option(names, values, help)->expected(1)->allow_extra_args(false)->take_all();
}

void AddLiveFlags(CLI::App& app, LiveOptions& options) {
  app.add_option("--kubeconfig", options.kubeconfig,
                 "kubeconfig for live objects (default: $KUBECONFIG, ~/.kube/config)")
      ->type_name("FILE");
  app.add_option("--context", options.context, "context in the kubeconfig")->type_name("NAME");
  const auto check_namespace = [](const std::string& text) {
    const absl::Status valid = kube::ValidateDns1123Label(text);
    return valid.ok() ? "" : absl::StrCat("\"", text, "\": ", valid.message());
  };
  app.add_option("-n,--namespace", options.ns, "namespace of live objects (default: the context's)")
      ->check(check_namespace, "")
      ->type_name("NAME");
}

void AddFormatFlag(CLI::App& app, Format& format) {
  constexpr auto kFormats =
      base::Enumerate<Format>({{Format::kYaml, "yaml"}, {Format::kJson, "json"}});
  config::AddChoice(app, "-o,--output", format, kFormats, "how to print the result")
      ->type_name("FORMAT");
}

std::string Formatted(const json::Value& value, Format format) {
  if (format == Format::kYaml) return yaml::Write(value);
  return absl::StrCat(json::Write(value, {.indent = 4}), "\n");
}

}  // namespace tool
