#include "base/snapshot.h"

#include <algorithm>
#include <atomic>
#include <catch2/catch.hpp>
#include <memory>
#include <optional>
#include <thread>
#include <utility>
#include <vector>

namespace {

using Numbers = base::Snapshot<int>;

std::shared_ptr<const int> Number(int n) { return std::make_shared<const int>(n); }

// Two members that are equal unless the value is torn or freed.
struct Twins {
  explicit Twins(int n) : first(n), second(n) {}
  ~Twins() { first = -1; }
  int first, second;
};

// Reads snapshots in its destructor.
struct Curious {
  explicit Curious(int n) : number(n) {}
  ~Curious() {
    if (others == nullptr) return;
    for (const auto& other : *others) other->Get();
  }
  int number;
  const std::vector<std::unique_ptr<base::Snapshot<Curious>>>* others = nullptr;
};

}  // namespace

TEST_CASE("a snapshot is empty until it is set, and then what was set last") {
  Numbers numbers;
  CHECK(numbers.Get() == nullptr);
  numbers.Set(Number(1));
  CHECK(*numbers.Get() == 1);
  numbers.Set(Number(2));
  CHECK(*numbers.Get() == 2);
  numbers.Set(nullptr);
  CHECK(numbers.Get() == nullptr);
  CHECK(*Numbers(Number(3)).Get() == 3);
}

TEST_CASE("a reader keeps the value that it got") {
  Numbers numbers(Number(1));
  const auto held = numbers.Get();
  numbers.Set(Number(2));
  CHECK(*numbers.Get() == 2);
  CHECK(*held == 1);
}

TEST_CASE("a thread that looks again lets the old value go") {
  Numbers numbers;
  std::weak_ptr<const int> old;
  {
    const auto first = Number(1);
    old = first;
    numbers.Set(first);
  }
  CHECK(*numbers.Get() == 1);
  numbers.Set(Number(2));
  CHECK_FALSE(old.expired());  // This thread still holds the value of its last Get.
  CHECK(*numbers.Get() == 2);
  CHECK(old.expired());
}

TEST_CASE("a value that looks at other snapshots when it dies does not put theirs in its place") {
  std::vector<std::unique_ptr<base::Snapshot<Curious>>> others;
  for (int n = 0; n < 30; ++n) {
    others.push_back(
        std::make_unique<base::Snapshot<Curious>>(std::make_shared<const Curious>(1000 + n)));
  }
  auto curious = std::make_shared<Curious>(1);
  curious->others = &others;
  base::Snapshot<Curious> snapshot(std::move(curious));
  CHECK(snapshot.Get()->number == 1);
  snapshot.Set(std::make_shared<const Curious>(2));
  CHECK(snapshot.Get()->number == 2);
}

TEST_CASE("a snapshot at the address of an earlier one is not taken for it") {
  std::optional<Numbers> numbers;
  for (int n = 0; n < 20; ++n) {
    numbers.emplace(Number(n));
    CHECK(*numbers->Get() == n);
  }
  numbers.emplace();
  CHECK(numbers->Get() == nullptr);
}

TEST_CASE("many snapshots of one type do not disturb one another") {
  std::vector<std::unique_ptr<Numbers>> all;
  for (int n = 0; n < 30; ++n) all.push_back(std::make_unique<Numbers>(Number(n)));
  for (int round = 0; round < 2; ++round) {
    for (int n = 0; n < 30; ++n) CHECK(*all[n]->Get() == n);
  }
}

TEST_CASE("readers on other threads see whole values, never an older one after a newer") {
  base::Snapshot<Twins> twins(std::make_shared<const Twins>(0));
  constexpr int kLast = 2000;
  std::atomic<int> wrong = 0;
  std::vector<std::thread> readers;
  for (int i = 0; i < 3; ++i) {
    readers.emplace_back([&] {
      for (int seen = 0; seen < kLast;) {
        const auto now = twins.Get();
        if (now->first != now->second || now->first < seen) ++wrong;
        seen = std::max(seen, now->second);
      }
    });
  }
  for (int n = 1; n <= kLast; ++n) twins.Set(std::make_shared<const Twins>(n));
  for (std::thread& reader : readers) reader.join();
  CHECK(wrong == 0);
}

TEST_CASE("what a writer set before it announced that is what another thread gets") {
  Numbers numbers(Number(0));
  std::atomic<int> told = 0;
  int stale = 0;
  std::thread reader([&] {
    while (told.load() < 1000) {
      const int at_least = told.load();
      if (*numbers.Get() < at_least) ++stale;
    }
  });
  for (int n = 1; n <= 1000; ++n) {
    numbers.Set(Number(n));
    told.store(n);
  }
  reader.join();
  CHECK(stale == 0);
}
