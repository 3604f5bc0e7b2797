#include "cmd/controller-manager/settings_page.h"

#include <utility>

#include "absl/strings/str_cat.h"
#include "api/programs.h"
#include "base/json.h"
#include "cmd/controller-manager/controller_table.h"
#include "config/version.h"

namespace cmd {
namespace {

template <class Texts>
json::Value ListOf(const Texts& texts) {
  json::Value list = json::Value::Array();
  for (const std::string& text : texts) list.Append(text);
  return list;
}

}  // namespace

std::string SettingsPage(const config::Options& options) {
  json::Value flags = json::Value::Object();
  for (const auto& [name, value] : options.settings) flags.Set(name, value);
  json::Value gates = json::Value::Object();
  for (const auto& [name, on] : options.gates.All()) gates.Set(name, on);
  json::Value off = json::Value::Object();
  for (const auto& [name, why] : ControllersThatAreOff(options)) off.Set(name, why);
  json::Value settings = json::Value::Object({
      {"version", config::Version()},
      {"emulatedKarmadaVersion", config::kReleases.TextOf(options.release)},
      {"flags", std::move(flags)},
      {"featureGates", std::move(gates)},
      {"controllers", ListOf(ControllersThatRun(options).on)},
      {"controllersOff", std::move(off)},
      {"warnings", ListOf(config::TextsOf(options.warnings))},
  });
  return absl::StrCat(
      json::Write(json::Value::Object({{api::kControllerManager, std::move(settings)}})), "\n");
}

}  // namespace cmd
