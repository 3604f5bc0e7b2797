#include "cmd/lens/flags.h"

#include <string>

#include <CLI/CLI.hpp>

namespace cmd::lens {

void AddOutputFlag(CLI::App& app, Output& output) {
  app.add_option_function<std::string>(
         "-o,--output",
         [&output](const std::string& name) {
           output = name == "json" ? Output::kJson : Output::kText;
         },
         "how to print the answer")
      ->check(CLI::IsMember({"text", "json"}))
      ->default_str("text")
      ->type_name("FORMAT");
}

}  // namespace cmd::lens
