// The embedded customizations, and every case in their folders.
#include <catch2/catch.hpp>
#include <filesystem>
#include <string>
#include <vector>

#include "absl/strings/ascii.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_split.h"
#include "base/yaml.h"
#include "interpreter/customized/lua_backend.h"
#include "interpreter/customized/shipped.h"
#include "tests/interpreter/case_files.h"

namespace {

namespace fs = std::filesystem;
using interpreter::Operation;
using interpreter::customized::Customization;
using interpreter::customized::LoadShipped;
using interpreter::customized::ParseCustomizations;
using interpreter::customized::ShippedFile;
using interpreter::customized::ShippedFiles;

// Tests run in the root of the source tree.
const fs::path kScripts = "lua/scripts";

// Returns the YAML files below lua/scripts that are customizations, or those that are cases.
std::vector<fs::path> YamlFiles(bool customizations) {
  std::vector<fs::path> found = tests::YamlFilesBelow(kScripts);
  std::erase_if(found, [&](const fs::path& path) {
    return (path.filename() == "customizations.yaml") != customizations;
  });
  return found;
}

}  // namespace

TEST_CASE("what is embedded is what lua/scripts holds") {
  const std::vector<fs::path> paths = YamlFiles(true);
  REQUIRE(ShippedFiles().size() == paths.size());
  for (size_t i = 0; i < paths.size(); ++i) {
    CHECK(ShippedFiles()[i].path == fs::relative(paths[i], kScripts).string());
    CHECK(json::Parse(ShippedFiles()[i].text) == yaml::Parse(tests::ReadFile(paths[i])));
  }
}

TEST_CASE("every shipped customization is sound, named after its kind and in its kind's folder") {
  for (const ShippedFile& file : ShippedFiles()) {
    for (const Customization& customization : ParseCustomizations(file.path, file.text)) {
      INFO(file.path);
      for (const auto& problem : customization.problems) FAIL_CHECK(problem.ToString());
      const std::vector<std::string> parts = absl::StrSplit(file.path, '/');
      REQUIRE(parts.size() == 4);
      CHECK(customization.target == kube::Gvk{parts[0], parts[1], parts[2]});
      CHECK(customization.name ==
            "declarative-configuration-" + absl::AsciiStrToLower(customization.target.kind));
    }
  }
  const auto set = LoadShipped(ShippedFiles());
  for (const auto& [name, problems] : set->problems()) {
    INFO(name);
    for (const auto& problem : problems) FAIL_CHECK(problem.ToString());
  }
}

TEST_CASE("a shipped file that cannot be read takes no other with it") {
  const std::vector<ShippedFile> files = {{"bad.yaml", "spec: ["}, {"good.yaml", R"(
apiVersion: config.karmada.io/v1alpha1
kind: ResourceInterpreterCustomization
metadata: {name: good}
spec:
  target: {apiVersion: example.io/v1, kind: Widget}
  customizations:
    healthInterpretation: {luaScript: "function InterpretHealth() return true end"}
)"}};
  const auto set = LoadShipped(files);
  CHECK(set->problems().count("bad.yaml") == 1);
  CHECK_FALSE(set->RulesFor({"example.io", "v1", "Widget"}, Operation::kInterpretHealth).empty());
}

TEST_CASE("every case beside the shipped customizations passes") {
  interpreter::customized::LuaBackend shipped({.layer = interpreter::kShippedLayer});
  shipped.Replace(LoadShipped(ShippedFiles()));
  size_t run = 0;
  for (const fs::path& path : YamlFiles(false)) run += tests::CheckCases(path, shipped);
  CHECK(run > 0);
}
