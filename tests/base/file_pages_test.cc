#include "base/file_pages.h"

#include <catch2/catch.hpp>

#include <regex>
#include <string>

#include "base/files.h"

namespace base {
namespace {

// Kilobytes of this process that its files hold as well.
int OfFiles() {
  const std::string status = *ReadFile("/proc/self/status");
  std::smatch found;
  REQUIRE(std::regex_search(status, found, std::regex("RssFile:\\s+(\\d+) kB")));
  return std::stoi(found[1]);
}

TEST_CASE("pages of code and constants are given back, and are there again when they are used") {
  const int before = OfFiles();
  CHECK(DropFilePages() > 1'000'000);
  const int after = OfFiles();
  CHECK(after < before * 3 / 4);
  CHECK(*ReadFile("/proc/self/comm") != "");
}

}  // namespace
}  // namespace base
