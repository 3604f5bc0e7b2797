#include "base/ordered_delivery.h"

#include <catch2/catch.hpp>

#include <atomic>
#include <functional>
#include <string>
#include <thread>

#include "absl/strings/str_cat.h"
#include "absl/synchronization/notification.h"
#include "tests/support/eventually.h"

namespace {

using Sink = std::function<void(int item)>;
using Delivery = base::OrderedDelivery<int, Sink>;

struct Fixture {
  Delivery delivery;
  std::string text;  // What was delivered: "a1 b1 a2".

  int64_t Add(const std::string& name) {
    return delivery.Add([this, name](int item) { absl::StrAppend(&text, name, item, " "); });
  }
  int64_t Join(const std::string& name) { return Join(Add(name)); }
  // The item 0 lets a receiver join, and is delivered to none.
  int64_t Join(int64_t id) {
    delivery.Queue(0);
    delivery.Deliver([&](int) { delivery.Join(id); });
    return id;
  }
  int64_t Join(Sink sink) { return Join(delivery.Add(std::move(sink))); }
  void ToAll(int item) {
    delivery.Queue(item);
    Deliver();
  }
  void Deliver() {
    delivery.Deliver([this](int item) { delivery.CallAll([&](const Sink& sink) { sink(item); }); });
  }
};

TEST_CASE_METHOD(Fixture, "items are delivered in their order, to receivers in that of their ids") {
  const int64_t a = Join("a");
  CHECK(Join("b") > a);
  delivery.Queue(1);
  delivery.Queue(2);
  CHECK(text.empty());
  Deliver();
  CHECK(text == "a1 b1 a2 b2 ");
}

TEST_CASE_METHOD(Fixture, "one receiver is called by its id before it has joined, all only then") {
  const int64_t a = Add("a");
  delivery.Queue(1);
  delivery.Deliver([&](int item) {
    CHECK(delivery.Call(a, [&](const Sink& sink) { sink(item); }));
    delivery.CallAll([&](const Sink& sink) { sink(9); });
    CHECK(delivery.Join(a));
    delivery.CallAll([&](const Sink& sink) { sink(2); });
  });
  CHECK(text == "a1 a2 ");
  CHECK(delivery.Joined([](const Sink&) { return true; }) == std::vector<int64_t>{a});
  CHECK(delivery.Joined([](const Sink&) { return false; }).empty());
}

TEST_CASE_METHOD(Fixture, "what a call queues is delivered after it, by the same thread") {
  Join([this](int item) {
    CHECK(delivery.DeliversHere());
    if (item < 3) ToAll(item + 1);
  });
  Join("b");
  ToAll(1);
  CHECK(text == "b1 b2 b3 ");
  CHECK_FALSE(delivery.DeliversHere());
}

TEST_CASE_METHOD(Fixture, "a thread that finds another one delivering leaves its items to that") {
  absl::Notification called, go_on;
  std::thread::id first, second;
  Join([&](int item) {
    (item == 1 ? first : second) = std::this_thread::get_id();
    if (item != 1) return;
    called.Notify();
    go_on.WaitForNotification();
  });
  std::thread deliverer([this] { ToAll(1); });
  called.WaitForNotification();
  CHECK_FALSE(delivery.DeliversHere());
  ToAll(2);  // Returns although the item is not delivered.
  go_on.Notify();
  deliverer.join();
  CHECK(first == second);
  CHECK(first != std::this_thread::get_id());
}

TEST_CASE_METHOD(Fixture, "calls never overlap, whoever delivers") {
  constexpr int kThreads = 4, kItems = 500;
  std::atomic<int> under_way = 0, overlapping = 0, calls = 0;
  Join([&](int) {
    if (++under_way > 1) ++overlapping;
    ++calls;
    --under_way;
  });
  std::vector<std::thread> threads;
  for (int i = 0; i < kThreads; ++i) {
    threads.emplace_back([this] {
      for (int n = 0; n < kItems; ++n) ToAll(1);
    });
  }
  for (std::thread& thread : threads) thread.join();
  CHECK(calls == kThreads * kItems);
  CHECK(overlapping == 0);
}

TEST_CASE_METHOD(Fixture, "a removed receiver gets nothing more, neither of what was queued") {
  const int64_t a = Join("a");
  Join("b");
  delivery.Queue(1);
  CHECK(delivery.Remove(a) != nullptr);
  CHECK(delivery.Remove(a) == nullptr);
  Deliver();
  CHECK(text == "b1 ");
}

TEST_CASE_METHOD(Fixture, "a receiver that is removed before its turn does not join") {
  const int64_t a = Add("a");
  delivery.Queue(1);
  delivery.RemoveSoon(a);
  delivery.Deliver([&](int item) {
    CHECK_FALSE(delivery.Join(a));
    CHECK_FALSE(delivery.Call(a, [&](const Sink& sink) { sink(item); }));
  });
  CHECK(text.empty());
}

TEST_CASE_METHOD(Fixture, "a call may remove its own receiver, and others") {
  int64_t self = 0, other = 0;
  self = Join([&](int item) {
    absl::StrAppend(&text, "self", item, " ");
    delivery.Remove(self);
    delivery.Remove(other);
  });
  other = Join("other");
  Join("third");
  ToAll(1);
  ToAll(2);
  CHECK(text == "self1 third1 third2 ");
}

TEST_CASE_METHOD(Fixture, "removal waits for a call that is under way, unless it is not to") {
  const bool soon = GENERATE(false, true);
  absl::Notification called, go_on;
  std::atomic<bool> has_returned = false, was_awaited = false;
  const int64_t id = Join([&](int) {
    called.Notify();
    go_on.WaitForNotification();
    has_returned = true;
  });
  std::thread deliverer([this] { ToAll(1); });
  called.WaitForNotification();
  if (soon) {
    delivery.RemoveSoon(id);
    CHECK_FALSE(has_returned);
    go_on.Notify();
  } else {
    std::thread remover([&] {
      delivery.Remove(id);
      was_awaited = has_returned.load();
    });
    // Nothing shows that the wait has begun but the receiver, which is not there any more.
    const auto all = [](const Sink&) { return true; };
    CHECK(tests::Eventually([&] { return delivery.Joined(all).empty(); }));
    go_on.Notify();
    remover.join();
    CHECK(was_awaited);
  }
  deliverer.join();
}

TEST_CASE_METHOD(Fixture, "the removal of one does not wait for a call of another") {
  absl::Notification called, go_on;
  const int64_t other = Join("b");
  Join([&](int) {
    called.Notify();
    go_on.WaitForNotification();
  });
  std::thread deliverer([this] { ToAll(1); });
  called.WaitForNotification();
  CHECK(delivery.Remove(other) != nullptr);  // While the call of the other one goes on.
  go_on.Notify();
  deliverer.join();
}

// Calls a function when it is destroyed.
struct OnEnd {
  explicit OnEnd(std::function<void()> call) : call(std::move(call)) {}
  ~OnEnd() { call(); }
  std::function<void()> call;
};

TEST_CASE_METHOD(Fixture, "what a receiver owns may use the delivery when it is destroyed") {
  bool destroyed = false;
  auto owned = std::make_shared<OnEnd>([&] {
    destroyed = true;
    delivery.Queue(2);
  });
  const int64_t id = Join([owned](int) {});
  owned.reset();
  ToAll(1);
  CHECK_FALSE(destroyed);
  delivery.Remove(id);
  CHECK(destroyed);
}

TEST_CASE("an item may use the delivery when it is destroyed") {
  base::OrderedDelivery<std::shared_ptr<OnEnd>, Sink> delivery;
  int handled = 0;
  const auto deliver = [&] { delivery.Deliver([&](const auto&) { ++handled; }); };
  delivery.Queue(std::make_shared<OnEnd>([&] { delivery.Queue(nullptr); }));
  deliver();
  CHECK(handled == 2);
  bool dropped = false;
  delivery.Queue(std::make_shared<OnEnd>([&] { dropped = !delivery.DeliversHere(); }));
  delivery.Stop();
  CHECK(dropped);
}

TEST_CASE_METHOD(Fixture, "after a stop nothing is called, added or delivered") {
  Join("a");
  delivery.Queue(1);
  delivery.Stop();
  Deliver();
  ToAll(2);
  const int64_t late = Add("late");
  delivery.Queue(3);
  delivery.Deliver([&](int) { delivery.Call(late, [](const Sink& sink) { sink(3); }); });
  CHECK(text.empty());
}

TEST_CASE_METHOD(Fixture, "a stop waits for the call that is under way") {
  absl::Notification called, go_on;
  std::atomic<bool> has_returned = false, was_awaited = false;
  Join([&](int) {
    called.Notify();
    go_on.WaitForNotification();
    has_returned = true;
  });
  std::thread deliverer([this] { ToAll(1); });
  called.WaitForNotification();
  std::thread stopper([&] {
    delivery.Stop();
    was_awaited = has_returned.load();
  });
  go_on.Notify();
  stopper.join();
  deliverer.join();
  CHECK(was_awaited);
}

TEST_CASE_METHOD(Fixture, "a call that stops the delivery does not wait for itself") {
  Join([this](int) { delivery.Stop(); });
  Join("b");
  ToAll(1);
  CHECK(text.empty());
}

}  // namespace
