#include "base/random.h"

#include <catch2/catch.hpp>
#include <set>
#include <thread>
#include <vector>

#include "base/regex.h"

namespace {

TEST_CASE("identifiers are version 4 UUIDs and do not repeat, in any thread") {
  std::vector<std::vector<std::string>> made(4);
  std::vector<std::thread> threads;
  for (std::vector<std::string>& mine : made) {
    threads.emplace_back([&mine] {
      for (int i = 0; i < 200; ++i) mine.push_back(base::NewUuid());
    });
  }
  for (std::thread& thread : threads) thread.join();
  const absl::StatusOr<base::Regex> form =
      base::Regex::Compile("^[0-9a-f]{8}-[0-9a-f]{4}-4[0-9a-f]{3}-[89ab][0-9a-f]{3}-[0-9a-f]{12}$");
  REQUIRE(form.ok());
  std::set<std::string> all;
  for (const auto& mine : made) {
    for (const std::string& uuid : mine) {
      CHECK(form->Finds(uuid));
      all.insert(uuid);
    }
  }
  CHECK(all.size() == 800);
}

TEST_CASE("jitter only adds, and at most the factor") {
  for (int i = 0; i < 1000; ++i) {
    const absl::Duration d = base::Jitter(absl::Seconds(10), 0.5);
    REQUIRE(d >= absl::Seconds(10));
    REQUIRE(d < absl::Seconds(15));
  }
  CHECK(base::Jitter(absl::Seconds(10), 0) == absl::Seconds(10));
  CHECK(base::Jitter(absl::ZeroDuration(), 1) == absl::ZeroDuration());
}

TEST_CASE("the unit interval is used evenly") {
  int low = 0;
  for (int i = 0; i < 10'000; ++i) {
    const double d = base::RandomUnit();
    REQUIRE(d >= 0);
    REQUIRE(d < 1);
    low += d < 0.5;
  }
  CHECK(low > 4'500);  // Ten standard deviations.
  CHECK(low < 5'500);
}

TEST_CASE("name suffixes use Kubernetes' alphabet, all of it") {
  const std::string suffix = base::RandomNameSuffix(5'000);
  CHECK(suffix.size() == 5'000);
  const std::set<char> used(suffix.begin(), suffix.end());
  CHECK(std::string(used.begin(), used.end()) == "2456789bcdfghjklmnpqrstvwxz");
  CHECK(base::RandomNameSuffix(0).empty());
}

}  // namespace
