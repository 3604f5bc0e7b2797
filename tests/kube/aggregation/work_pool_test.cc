// Threads that outlive what goes wrong on them, and whose turn it is.
#include "kube/aggregation/work_pool.h"

#include <catch2/catch.hpp>
#include <stdexcept>
#include <string>

#include "absl/synchronization/mutex.h"
#include "absl/synchronization/notification.h"
#include "absl/time/time.h"

namespace kube::aggregation {
namespace {

constexpr absl::Duration kPatience = absl::Minutes(1);

TEST_CASE("an exception ends the piece of work that throws it, and nothing else") {
  absl::Notification done;
  WorkPool pool("test", 1, 10);
  CHECK(pool.Run([] { throw std::runtime_error("of the test"); }));
  CHECK(pool.Run([] { throw 1; }));
  CHECK(pool.Run([&done] { done.Notify(); }));
  CHECK(done.WaitForNotificationWithTimeout(kPatience));
}

// Notes the owners in the order in which their work runs.
class Order {
 public:
  std::function<void()> Work(char owner) {
    return [this, owner] {
      absl::MutexLock lock(&mu_);
      text_ += owner;
    };
  }
  std::string Await(size_t count) {
    const auto all = [&]() ABSL_SHARED_LOCKS_REQUIRED(mu_) { return text_.size() >= count; };
    absl::MutexLock lock(&mu_);
    mu_.AwaitWithTimeout(absl::Condition(&all), kPatience);
    return text_;
  }

 private:
  absl::Mutex mu_;
  std::string text_ ABSL_GUARDED_BY(mu_);
};

TEST_CASE("owners have their turns one after the other") {
  Order order;
  absl::Notification begun, go;
  WorkPool pool("test", 1, 100);
  pool.Run([&] {
    begun.Notify();
    go.WaitForNotification();
  });
  CHECK(begun.WaitForNotificationWithTimeout(kPatience));
  for (int i = 0; i < 4; ++i) CHECK(pool.Run("a", order.Work('a')));
  CHECK(pool.Run("b", order.Work('b')));
  CHECK(pool.Run("c", order.Work('c')));
  go.Notify();
  CHECK(order.Await(6) == "abcaaa");
}

TEST_CASE("one owner leaves as many places in the queue to the others as he has") {
  absl::Notification begun, go;
  WorkPool pool("test", 1, 8);
  pool.Run([&] {
    begun.Notify();
    go.WaitForNotification();
  });
  CHECK(begun.WaitForNotificationWithTimeout(kPatience));
  const auto fill = [&](const char* owner) {
    int count = 0;
    while (pool.Run(owner, [] {})) ++count;
    return count;
  };
  CHECK(fill("a") == 4);
  CHECK(fill("b") == 2);
  // Who is nobody in particular has all that is left.
  CHECK(fill("") == 2);
  go.Notify();
}

TEST_CASE("one owner leaves half of the threads to the others") {
  absl::Notification go, other;
  WorkPool pool("test", 4, 100);
  for (int i = 0; i < 20; ++i) {
    CHECK(pool.Run("a", [&] { go.WaitForNotification(); }));
  }
  CHECK(pool.Run("b", [&] { other.Notify(); }));
  CHECK(other.WaitForNotificationWithTimeout(kPatience));
  go.Notify();
}

}  // namespace
}  // namespace kube::aggregation
