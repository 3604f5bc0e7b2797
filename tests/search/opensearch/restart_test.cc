// The OpenSearch itself is killed and started again, by tests/e2e/cases/test_opensearch.py, while
// objects change for $OPENSEARCH_CHURN_SECONDS.
#include <cstdlib>
#include <iostream>
#include <map>

#include <catch2/catch.hpp>

#include "absl/strings/numbers.h"
#include "absl/time/clock.h"
#include "tests/search/opensearch/mirror_fixture.h"
#include "tests/support/eventually.h"

namespace tests {
namespace {

constexpr int64_t kObjects = 500;

TEST_CASE_METHOD(MirrorFixture, "Nothing is lost when OpenSearch is killed under churn",
                 "[.restart-opensearch]") {
  int seconds = 0;
  const char* text = std::getenv("OPENSEARCH_CHURN_SECONDS");
  REQUIRE((text != nullptr && absl::SimpleAtoi(text, &seconds)));
  mirror_->Synced(pods1_, cache1_);
  Settle();
  std::map<std::string, int64_t> wanted;
  int64_t version = 1000;
  bool was_down = false;
  size_t most_pending = 0;
  for (const absl::Time end = absl::Now() + absl::Seconds(seconds); absl::Now() < end;) {
    const std::string uid = absl::StrCat("u", version * 7919 % kObjects);
    ++version;
    if (version % 5 == 0) {
      // It comes and goes.
      const std::string brief = absl::StrCat("brief-", version);
      Put(pods1_, *cache1_, brief, version);
      Erase(pods1_, *cache1_, brief, ++version);
    }
    if (version % 10 == 3) {
      Erase(pods1_, *cache1_, uid, version);
      wanted[uid] = 0;
    } else {
      Put(pods1_, *cache1_, uid, version);
      wanted[uid] = version;
    }
    const search::MirrorStatus status = mirror_->Status();
    was_down = was_down || !status.connected;
    most_pending = std::max(most_pending, status.pending);
    absl::SleepFor(absl::Milliseconds(1));
  }
  CHECK(was_down);
  CHECK(most_pending <= kObjects + options_.max_deletions + 1);
  const int64_t events = version - 1000;
  const absl::Time up = absl::Now();
  Settle();
  std::cout << events << " changes, at most " << most_pending << " documents waited, the last for "
            << absl::ToInt64Milliseconds(absl::Now() - up) << " ms after the last change\n";
  CHECK(mirror_->Status().dead_letters == 0);
  int64_t there = 0;
  for (const auto& [uid, last] : wanted) {
    INFO(uid);
    CHECK(Version(pods1_, uid) == (last == 0 ? "" : absl::StrCat(last)));
    there += last == 0 ? 0 : 1;
  }
  CHECK(Count(pods1_) == there);
}

}  // namespace
}  // namespace tests
