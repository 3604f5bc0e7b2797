#include "controllers/process/plane_memory.h"

#include <future>
#include <memory>
#include <string>

#include <catch2/catch.hpp>

#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "api/resources.h"
#include "tests/support/fake_clock.h"
#include "tests/support/fake_transport.h"

namespace controllers {
namespace {

constexpr int64_t kMebibyte = int64_t{1} << 20;

struct Fixture {
  std::shared_ptr<tests::FakeApiServer> server = std::make_shared<tests::FakeApiServer>();
  tests::FakeClock clock;
  kube::Client client{server, {.name = "plane"}, clock, nullptr};
  kube::InformerSet informers{client, clock};
  const PlaneMemory memory{kMebibyte, nullptr};

  void PutWorks(int count) {
    for (int i = 0; i < count; ++i) {
      kube::Object work =
          kube::Object::Make(api::Works().gvk, {"karmada-es-m1", absl::StrCat("work-", i)});
      work.Set({"spec", "text"}, std::string(100'000, 'x'));
      server->Put(api::Works(), work);
    }
  }
};

TEST_CASE_METHOD(Fixture, "an agent ends when its control plane has more than may be kept of it") {
  memory.Limit(informers);
  const std::unique_ptr<kube::Runnable> watch = memory.NewWatch(clock);
  std::future<absl::Status> ended =
      std::async(std::launch::async, [&] { return watch->Run(base::StopToken()); });
  SECTION("at its start") {
    PutWorks(20);
    informers.Get(api::Works());
  }
  SECTION("while it runs") {
    const auto works = informers.Get(api::Works());
    REQUIRE(works->WaitForSync(base::SteadyTime::InfiniteFuture(), base::StopToken()).ok());
    PutWorks(20);
  }
  const absl::Status result = ended.get();
  CHECK(absl::IsResourceExhausted(result));
  CHECK(absl::StrContains(result.message(), "more than the 1 MiB"));
  CHECK(absl::StrContains(result.message(), "--cluster-memory-mib"));
  informers.Stop();
}

TEST_CASE_METHOD(Fixture, "a start ends when its control plane has more than may be kept of it") {
  memory.Limit(informers);
  PutWorks(20);
  const auto works = informers.Get(api::Works());
  const absl::Status result = memory.Guard(base::StopToken(), [&](const base::StopToken& stop) {
    return works->WaitForSync(base::SteadyTime::InfiniteFuture(), stop);
  });
  CHECK(absl::IsResourceExhausted(result));
  informers.Stop();
}

TEST_CASE_METHOD(Fixture, "a start and a run whose objects have room end as they would without") {
  memory.Limit(informers);
  PutWorks(2);
  const auto works = informers.Get(api::Works());
  CHECK(memory
            .Guard(base::StopToken(),
                   [&](const base::StopToken& stop) {
                     return works->WaitForSync(base::SteadyTime::InfiniteFuture(), stop);
                   })
            .ok());
  base::StopSource stop;
  stop.request_stop();
  CHECK(absl::IsCancelled(memory.Guard(stop.get_token(), [&](const base::StopToken& either) {
    CHECK(either.stop_requested());
    return absl::CancelledError("stopped");
  })));
  CHECK(memory.NewWatch(clock)->Run(stop.get_token()).ok());
  informers.Stop();
}

}  // namespace
}  // namespace controllers
