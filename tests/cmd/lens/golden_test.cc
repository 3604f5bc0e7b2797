// Whole command lines and all that they print: the cases of tests/data/lens.
#include <catch2/catch.hpp>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <set>

#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_replace.h"
#include "absl/strings/str_split.h"
#include "base/files.h"
#include "tests/cmd/lens/tool.h"

namespace tests {
namespace {

namespace fs = std::filesystem;

constexpr char kCases[] = "tests/data/lens";

std::string ReadAll(const fs::path& path) { return base::ReadFile(path).value_or(""); }

// Returns the words of "$ plan -f files"; those that name something in the directory get its path.
std::vector<std::string> WordsOf(const std::string& line, const fs::path& directory) {
  std::vector<std::string> words = absl::StrSplit(line, ' ');
  words.erase(words.begin());
  for (std::string& word : words) {
    if (fs::exists(directory / word)) word = (directory / word).string();
  }
  return words;
}

// Returns the command line, the exit code and both outputs, without the path of the directory.
std::string Record(const std::string& line, const fs::path& directory) {
  const Ran ran = RunLens(WordsOf(line, directory));
  const std::string text = absl::StrCat(line, "\nexit code ", ran.code, "\n--- standard output\n",
                                        ran.out, "--- standard error\n", ran.err);
  return absl::StrReplaceAll(text, {{directory.string() + "/", ""}});
}

}  // namespace

TEST_CASE("Lens: command lines print what their cases say") {
  std::set<fs::path> directories;
  for (const auto& entry : fs::directory_iterator(kCases)) {
    if (entry.is_directory()) directories.insert(entry.path());
  }
  REQUIRE_FALSE(directories.empty());
  const char* mode = std::getenv("LENS_GOLDEN");
  for (const fs::path& directory : directories) {
    const std::string wanted = ReadAll(directory / "case.txt");
    const std::string line = wanted.substr(0, wanted.find('\n'));
    INFO(directory.string() << ": " << line);
    const std::string got = Record(line, directory);
    if (mode != nullptr && std::string(mode) == "write") {
      std::ofstream(directory / "case.txt") << got;
    } else {
      CHECK(got == wanted);
    }
  }
}

}  // namespace tests
