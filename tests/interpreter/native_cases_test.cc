// Tests the built-in rules by kind: tests/data/native/<Kind>/*.yaml. Authors of a rule try them
// with
//   karmada-interpret test tests/data/native --no-shipped
#include <catch2/catch.hpp>
#include <filesystem>
#include <memory>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "interpreter/interpreter.h"
#include "tests/interpreter/case_files.h"

namespace {

namespace fs = std::filesystem;

const fs::path kCases = "tests/data/native";

TEST_CASE("every case of the built-in rules passes") {
  std::vector<std::unique_ptr<interpreter::Backend>> layers;
  layers.push_back(interpreter::NewNativeBackend());
  const auto chain = interpreter::NewChain(std::move(layers));
  size_t run = 0;
  for (const fs::path& path : tests::YamlFilesBelow(kCases)) run += tests::CheckCases(path, *chain);
  CHECK(run > 0);
}

// (Case files have no operation for pruning a kind: see prune_test.cc.)
TEST_CASE("every kind with a built-in rule has cases for each of its operations") {
  const auto native = interpreter::NewNativeBackend();
  std::set<std::string> tried;
  for (const fs::path& path : tests::YamlFilesBelow(kCases)) {
    for (const auto& c : interpreter::customized::ParseCaseFile(tests::ReadFile(path)).cases) {
      const kube::Object& object = c.input.object.empty() ? c.input.observed : c.input.object;
      tried.insert(object.gvk().ToString() + " " +
                   std::string(interpreter::OperationName(c.input.operation)));
    }
  }
  for (const kube::Gvk& gvk : interpreter::NativeKinds()) {
    for (const interpreter::Operation op : interpreter::kAllOperations) {
      if (op == interpreter::Operation::kPrune || !native->Has(gvk, op)) continue;
      const std::string name = gvk.ToString() + " " + std::string(interpreter::OperationName(op));
      INFO(name);
      CHECK(tried.count(name) > 0);
    }
  }
}

}  // namespace
