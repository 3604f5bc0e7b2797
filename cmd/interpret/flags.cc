#include "cmd/interpret/flags.h"

#include <CLI/CLI.hpp>
#include <cstdint>
#include <limits>

#include "absl/strings/numbers.h"
#include "absl/strings/str_cat.h"
#include "base/json.h"
#include "base/yaml.h"
#include "kube/meta/selector.h"

namespace cmd::interpret {

CLI::Option* AddRepeatable(CLI::App& app, const std::string& names,
                           std::vector<std::string>& values, const std::string& help) {
  return app.add_option(names, values, help)->expected(1)->allow_extra_args(false)->take_all();
}

namespace {

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

}  // namespace

void AddInputFlags(CLI::App& app, LayerOptions& options) {
  AddRepeatable(app, "-f,--filename,--customization", options.customizations,
                "file or directory of ResourceInterpreterCustomizations, - for standard input, or "
                "TYPE/NAME of a live one; may be repeated")
      ->type_name("FILE");
  app.add_flag("-R,--recursive", options.recursive, "also read directories below directories");
  AddLiveFlags(app, options.live);
}

void AddLayerFlags(CLI::App& app, LayerOptions& options) {
  AddInputFlags(app, options);
  AddRepeatable(app, "--webhook", options.webhooks,
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

void AddFormatFlag(CLI::App& app, Format& format) {
  app.add_option_function<std::string>(
         "-o,--output",
         [&format](const std::string& name) {
           format = name == "json" ? Format::kJson : Format::kYaml;
         },
         "how to print the result")
      ->check(CLI::IsMember({"yaml", "json"}))
      ->default_str("yaml")
      ->type_name("FORMAT");
}

std::string Formatted(const json::Value& value, Format format) {
  if (format == Format::kYaml) return yaml::Write(value);
  return absl::StrCat(json::Write(value, {.indent = 4}), "\n");
}

}  // namespace cmd::interpret
