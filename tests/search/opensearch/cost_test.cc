// What mirroring costs on a real OpenSearch; prints figures for docs/decisions.md.
#include <cstdint>
#include <cstdio>
#include <functional>

#include <catch2/catch.hpp>

#include "absl/time/clock.h"
#include "tests/search/opensearch/mirror_fixture.h"

namespace tests {
namespace {

constexpr int kPods = 10'000;

TEST_CASE_METHOD(MirrorFixture, "Cost of 10,000 pods", "[.cost-opensearch]") {
  const auto timed = [&](const char* what, const std::function<void()>& work) {
    const int64_t bytes = server_.BytesReceived();
    const absl::Time begin = absl::Now();
    work();
    std::printf("%-60s %6.2f s, %5.1f MB sent\n", what, absl::ToDoubleSeconds(absl::Now() - begin),
                static_cast<double>(server_.BytesReceived() - bytes) / 1e6);
  };
  const std::string more =
      absl::StrCat(R"(,"status":{"phase":"Running","text":")", std::string(2000, 's'), "\"}");
  const auto put_all = [&](int64_t first) {
    for (int i = 0; i < kPods; ++i) Put(pods1_, *cache1_, absl::StrCat("u", i), first + i, more);
  };
  put_all(1);
  timed("first write", [&] {
    mirror_->Synced(pods1_, cache1_);
    Settle();
  });
  timed("comparison with nothing to do", [&] {
    mirror_->Synced(pods1_, cache1_);
    Settle();
  });
  timed("10,000 events", [&] {
    put_all(20'000);
    Settle();
  });
  auto other = search::OpenSearchMirror::Create(options_, base::RealClock(), nullptr).value();
  other->Synced(pods1_, cache1_);
  const auto far = base::RealClock().SteadyNow() + absl::Minutes(5);
  REQUIRE(other->AwaitIdle(far, {}).ok());
  timed("10,000 events of two replicas", [&] {
    put_all(40'000);
    for (int i = 0; i < kPods; ++i) {
      const std::string uid = absl::StrCat("u", i);
      other->Upsert(pods1_, FakeSlice::Mirrored(uid, 40'000 + i, Pod(uid, 40'000 + i, more)));
    }
    Settle();
    REQUIRE(other->AwaitIdle(far, {}).ok());
  });
  std::printf("  refused: %lld and %lld\n", static_cast<long long>(mirror_->Status().conflicts),
              static_cast<long long>(other->Status().conflicts));
  other = nullptr;
  server_.SetDown(true);
  for (int round = 0; round < 10; ++round) put_all(60'000 + round * kPods);
  std::printf("100,000 events while it is down: %zu pending\n", mirror_->Status().pending);
  server_.SetDown(false);
  timed("after it came back", [&] { Settle(); });
  timed("orphans deleted", [&] {
    mirror_->KindLeft(pods1_);
    Settle();
  });
  mirror_->Synced(pods1_, cache1_);
  Settle();
  timed("the same by delete_by_query", [&] {
    server_.Ask("POST", absl::StrCat("/", Index(pods1_), "/_refresh"));
    server_.Ask("POST", absl::StrCat("/", Index(pods1_), "/_delete_by_query?conflicts=proceed"),
                R"({"query":{"term":{"cluster":"member1"}}})");
  });
}

}  // namespace
}  // namespace tests
