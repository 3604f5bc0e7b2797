#include "kube/http/internal/errands.h"

#include <catch2/catch.hpp>

#include <atomic>
#include <memory>
#include <string>
#include <vector>

#include "absl/strings/str_cat.h"
#include "absl/synchronization/notification.h"
#include "tests/support/eventually.h"

namespace kube {
namespace {

// Errands that only end when the test lets them.
class Stuck {
 public:
  explicit Stuck(Errands& errands) : errands_(errands) {}
  ~Stuck() { Release(); }

  void Add(int count, const std::string& prefix) {
    for (int i = 0; i < count; ++i) {
      errands_.Run({absl::StrCat(prefix, i)}, [this] {
        ++started_;
        release_.WaitForNotification();
        ++ended_;
      });
      ++added_;
    }
  }
  bool AwaitStarted(int count) {
    return tests::Eventually([&] { return started_ >= count; });
  }
  int started() const { return started_; }
  void Release() {
    if (!release_.HasBeenNotified()) release_.Notify();
    CHECK(tests::Eventually([&] { return ended_ == added_; }));
  }

 private:
  Errands& errands_;
  absl::Notification release_;
  std::atomic<int> started_ = 0, ended_ = 0;
  int added_ = 0;
};

bool Runs(Errands& errands, const Errands::Subject& subject) {
  auto ran = std::make_shared<absl::Notification>();
  errands.Run(subject, [ran] { ran->Notify(); });
  return ran->WaitForNotificationWithTimeout(absl::Minutes(1));
}

}  // namespace

TEST_CASE("Hosts whose lookups hang do not hold up one that was quick") {
  Errands errands(8);
  REQUIRE(Runs(errands, {"good"}));
  Stuck stuck(errands);
  stuck.Add(40, "bad");
  REQUIRE(stuck.AwaitStarted(6));
  CHECK(Runs(errands, {"good"}));
  CHECK(stuck.started() == 6);
}

TEST_CASE("Urgent errands wait for nobody, though all threads hang") {
  Errands errands(8);
  for (int i = 0; i < 8; ++i) REQUIRE(Runs(errands, {absl::StrCat("was-quick", i)}));
  Stuck stuck(errands);
  stuck.Add(8, "was-quick");
  stuck.Add(8, "bad");
  REQUIRE(stuck.AwaitStarted(8));
  CHECK(Runs(errands, {"control-plane", /*urgent=*/true}));
  // The same holds for a host that a stuck errand is asking for at that time.
  CHECK(Runs(errands, {"was-quick0", /*urgent=*/true}));
  CHECK(stuck.started() == 8);
}

TEST_CASE("Errands of one subject run one after the other, and in order") {
  Errands errands(4);
  std::atomic<int> running = 0, ran = 0;
  std::atomic<bool> in_order = true;
  for (int i = 0; i < 100; ++i) {
    errands.Run({"one"}, [&, i] {
      if (++running > 1 || ran != i) in_order = false;
      ++ran;
      --running;
    });
  }
  CHECK(tests::Eventually([&] { return ran == 100; }));
  CHECK(in_order);
  CHECK(errands.AwaitNone(absl::Minutes(1)));
}

TEST_CASE("Waiting for errands to end gives up after the patience given") {
  Errands errands(4);
  Stuck stuck(errands);
  stuck.Add(1, "bad");
  CHECK_FALSE(errands.AwaitNone(absl::Milliseconds(20)));
  stuck.Release();
  CHECK(errands.AwaitNone(absl::Minutes(1)));
}

}  // namespace kube
