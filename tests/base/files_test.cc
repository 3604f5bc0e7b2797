#include "base/files.h"

#include <unistd.h>

#include <catch2/catch.hpp>

#include <fstream>

#include "tests/support/temp_directory.h"

namespace base {
namespace {

struct Fixture {
  tests::TempDirectory directory;
  const std::string path = directory.path() + "/file";
  void Write(const std::string& text) { std::ofstream(path, std::ios::binary) << text; }
};

TEST_CASE_METHOD(Fixture, "a file is read whole, whatever its bytes") {
  const std::string text = std::string(10'000, 'x') + std::string("\0\r\n", 3);
  Write(text);
  CHECK(*ReadFile(path) == text);
  CHECK(*ReadContent(path) == text);
}

TEST_CASE_METHOD(Fixture, "a file that is missing or a directory is named with the reason") {
  CHECK(absl::IsNotFound(ReadFile(path).status()));
  CHECK(ReadFile(path).status().message() == path + " does not exist");
  CHECK(absl::IsInvalidArgument(ReadFile(directory.path()).status()));
  CHECK(ReadFile(directory.path()).status().message() ==
        directory.path() + " cannot be read: Is a directory");
  CHECK(ReadContent(directory.path()).status() == ReadFile(directory.path()).status());
}

TEST_CASE_METHOD(Fixture, "an empty file is an error where its content is needed") {
  Write("");
  CHECK(ReadFile(path)->empty());
  CHECK(absl::IsInvalidArgument(ReadContent(path).status()));
  CHECK(ReadContent(path).status().message() == path + " is empty");
}

}  // namespace
}  // namespace base
