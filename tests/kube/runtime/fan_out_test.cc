#include "kube/runtime/fan_out.h"

#include <atomic>
#include <catch2/catch.hpp>
#include <set>
#include <stdexcept>
#include <string>
#include <thread>
#include <vector>

#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "absl/synchronization/barrier.h"
#include "absl/synchronization/mutex.h"
#include "absl/synchronization/notification.h"
#include "kube/cache/read_scope.h"
#include "tests/support/manager_fixture.h"

namespace kube {
namespace {

// Remembers on which threads parts ran.
class Visitors {
 public:
  void Add() {
    absl::MutexLock lock(&mu_);
    threads_.insert(std::this_thread::get_id());
  }
  size_t count() {
    absl::MutexLock lock(&mu_);
    return threads_.size();
  }

 private:
  absl::Mutex mu_;
  std::set<std::thread::id> threads_;
};

TEST_CASE("each part runs once, and many parts at the same time") {
  FanOut fan_out(base::RealClock(), 3);
  // Four parts at a time have to be there before one of them goes on.
  for (int round = 0; round < 20; ++round) {
    auto* const barrier = new absl::Barrier(4);
    std::vector<std::atomic<int>> runs(16);
    REQUIRE(fan_out
                .Run(16,
                     [&](size_t i) {
                       if (++runs[i] == 1 && i < 4 && barrier->Block()) delete barrier;
                       return absl::OkStatus();
                     })
                .ok());
    for (const std::atomic<int>& run : runs) CHECK(run == 1);
  }
}

TEST_CASE("few parts are run by the caller alone, in their order") {
  FanOut fan_out(base::RealClock());
  Visitors visitors;
  std::string order;
  REQUIRE(fan_out
              .Run(FanOut::kPartsPerThread - 1,
                   [&](size_t i) {
                     visitors.Add();
                     absl::StrAppend(&order, i);
                     return absl::OkStatus();
                   })
              .ok());
  CHECK(visitors.count() == 1);
  CHECK(order == "012");
  CHECK(fan_out.Run(0, [](size_t) { return absl::InternalError("no part"); }).ok());
}

TEST_CASE("parts that wait for servers can have a thread each") {
  FanOut fan_out(base::RealClock(), 3, /*parts_per_thread=*/1);
  absl::Notification begun;
  std::atomic<bool> met = false;
  const absl::Status result = fan_out.Run(2, [&](size_t i) {
    if (i == 1) begun.Notify();
    if (i == 0) met = begun.WaitForNotificationWithTimeout(absl::Minutes(1));
    return absl::OkStatus();
  });
  CHECK(result.ok());
  CHECK(met);
  CHECK(fan_out.Run(0, [](size_t) { return absl::OkStatus(); }).ok());
}

TEST_CASE("while all threads are busy a caller runs its parts itself") {
  FanOut fan_out(base::RealClock(), 1);
  absl::Notification held, go_on;
  std::thread holder([&] {
    std::atomic<int> begun = 0;
    // The caller's thread and the only other one are held.
    CHECK(fan_out
              .Run(4,
                   [&](size_t) {
                     if (++begun == 2) held.Notify();
                     go_on.WaitForNotification();
                     return absl::OkStatus();
                   })
              .ok());
  });
  held.WaitForNotification();
  Visitors visitors;
  CHECK(fan_out
            .Run(40,
                 [&](size_t) {
                   visitors.Add();
                   return absl::OkStatus();
                 })
            .ok());
  CHECK(visitors.count() == 1);
  go_on.Notify();
  holder.join();
}

TEST_CASE("a part that fails keeps back no other, and the errors come in the order of the parts") {
  FanOut fan_out(base::RealClock());
  std::atomic<int> runs = 0;
  const absl::Status result = fan_out.Run(100, [&](size_t i) {
    ++runs;
    if (i == 20) return absl::NotFoundError("first");
    return i == 70 ? absl::UnavailableError("second") : absl::OkStatus();
  });
  CHECK(runs == 100);
  CHECK(result == absl::NotFoundError("[first, second]"));
}

TEST_CASE("a part that was cancelled ends the call") {
  FanOut fan_out(base::RealClock(), /*max_threads=*/0);
  std::atomic<int> runs = 0;
  const absl::Status result = fan_out.Run(1000, [&](size_t i) {
    ++runs;
    return i == 0 ? absl::CancelledError("stopped") : absl::UnavailableError("refused");
  });
  CHECK(result == absl::CancelledError("stopped"));
  CHECK(runs == 1);
}

TEST_CASE("an exception of a part comes to the caller when the others have returned") {
  FanOut fan_out(base::RealClock());
  std::atomic<int> runs = 0;
  CHECK_THROWS_WITH(fan_out.Run(100,
                                [&](size_t i) {
                                  if (i == 30) throw std::runtime_error("from a library");
                                  ++runs;
                                  return absl::OkStatus();
                                }),
                    "from a library");
  CHECK(runs == 99);
}

TEST_CASE_METHOD(tests::ManagerFixture, "what a part reads counts for the pass of its caller") {
  const Resource pods{{"", "v1", "Pod"}, "pods", true};
  FanOut fan_out(base::RealClock());
  const std::vector<const Informer*> declared;
  for (const size_t reader : {0, 99}) {
    const ReadScope scope(cluster, declared);
    REQUIRE(fan_out
                .Run(100,
                     [&](size_t i) {
                       if (i == reader) cluster.Find(pods, {"ns", "a"});
                       return absl::OkStatus();
                     })
                .ok());
    CHECK(absl::StrContains(scope.status().message(), "the loop has read v1/pods"));
  }
}

}  // namespace
}  // namespace kube
