#include "base/byte_budget.h"

#include <memory>

#include <catch2/catch.hpp>

namespace base {

TEST_CASE("a budget of its own ends at its limit") {
  ByteBudget budget(100);
  budget.Take(100);
  CHECK_FALSE(budget.IsOver());
  budget.Take(1);
  CHECK(budget.IsOver());
  budget.Give(1);
  CHECK_FALSE(budget.IsOver());
}

TEST_CASE("one of several budgets may take what the others have left") {
  const auto total = std::make_shared<TotalBytes>(100);
  ByteBudget one(80, total), other(80, total);
  CHECK(one.limit() == 80);
  other.Take(40);
  CHECK(one.limit() == 60);
  one.Take(60);
  CHECK_FALSE(one.IsOver());
  CHECK(total->used() == 100);
}

TEST_CASE("what many take together is bounded, and each has an equal part in any case") {
  const auto total = std::make_shared<TotalBytes>(100);
  ByteBudget first(80, total), second(80, total), small(80, total), idle(80, total);
  first.Take(70);
  second.Take(30);
  // Nothing is left, but for those that have less than their part.
  CHECK(first.limit() == 70);
  CHECK(second.limit() == 30);
  CHECK(small.limit() == 25);
  small.Take(20);
  CHECK_FALSE(small.IsOver());
  CHECK(first.IsOver());
  CHECK(second.limit() == 25);
  CHECK(idle.limit() == 25);
}

TEST_CASE("what a budget has taken and its part are free when it ends") {
  const auto total = std::make_shared<TotalBytes>(100);
  ByteBudget one(100, total);
  {
    ByteBudget other(100, total);
    other.Take(90);
    CHECK(one.limit() == 50);
  }
  CHECK(total->used() == 0);
  CHECK(one.limit() == 100);
}

}  // namespace base
