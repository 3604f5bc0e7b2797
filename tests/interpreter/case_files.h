// Runs case files (interpreter/customized/case_file.h) as tests. Paths are relative to the root of
// the source tree, where tests run.
#ifndef TESTS_INTERPRETER_CASE_FILES_H_
#define TESTS_INTERPRETER_CASE_FILES_H_

#include <algorithm>
#include <catch2/catch.hpp>
#include <filesystem>
#include <string>
#include <vector>

#include "base/files.h"
#include "interpreter/customized/case_file.h"

namespace tests {

inline std::string ReadFile(const std::filesystem::path& path) {
  return base::ReadFile(path).value();
}

// Returns the YAML files below `root`, sorted.
inline std::vector<std::filesystem::path> YamlFilesBelow(const std::filesystem::path& root) {
  std::vector<std::filesystem::path> found;
  for (const auto& entry : std::filesystem::recursive_directory_iterator(root)) {
    if (entry.is_regular_file() && entry.path().extension() == ".yaml") {
      found.push_back(entry.path());
    }
  }
  std::sort(found.begin(), found.end());
  return found;
}

// Fails the test for each document that is not a case and for each case that does not pass. Returns
// the number of cases. `answering` is a Backend or an Interpreter.
template <class Answering>
size_t CheckCases(const std::filesystem::path& path, const Answering& answering) {
  const auto file = interpreter::customized::ParseCaseFile(ReadFile(path));
  for (const auto& problem : file.problems) {
    FAIL_CHECK(path.string() << ":" << problem.line << ": " << problem.message);
  }
  for (const auto& c : file.cases) {
    const auto result = interpreter::customized::RunCase(c, answering);
    if (!result.passed) {
      FAIL_CHECK(path.string() << ":" << c.line << ": " << c.name << "\n" << result.report);
    }
  }
  return file.cases.size();
}

}  // namespace tests

#endif  // TESTS_INTERPRETER_CASE_FILES_H_
