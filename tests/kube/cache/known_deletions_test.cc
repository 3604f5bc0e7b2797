#include "kube/cache/internal/known_deletions.h"

#include <catch2/catch.hpp>
#include <memory>
#include <string>

#include "absl/strings/str_cat.h"

namespace kube::internal {
namespace {

Object State(const std::string& name, const std::string& uid, int64_t version) {
  Object object;
  object.Set({"metadata", "name"}, name);
  object.Set({"metadata", "uid"}, uid);
  object.Set({"metadata", "resourceVersion"}, absl::StrCat(version));
  return object;
}

}  // namespace

TEST_CASE("a deletion covers what is older, or what has its uid") {
  KnownDeletions known(nullptr);
  known.Add({"", "by-watch"}, {10, ""});
  known.Add({"", "by-us"}, {10, "first"});
  CHECK(known.Cover(State("by-watch", "u", 10), 0));
  CHECK_FALSE(known.Cover(State("by-watch", "u", 11), 0));
  CHECK(known.Cover(State("by-us", "first", 12), 0));
  CHECK_FALSE(known.Cover(State("by-us", "second", 12), 0));
  CHECK_FALSE(known.Cover(State("other", "u", 1), 0));
  CHECK(known.Cover(State("by-us", "first", 9), 1));
  CHECK_FALSE(known.Cover(State("by-watch", "u", 9), 1));
}

TEST_CASE("deletions are remembered until the second ageing, and it is known what is forgotten") {
  KnownDeletions known(nullptr);
  known.Add({"", "a"}, {10, ""});
  known.Age();
  known.Add({"", "b"}, {11, ""});
  CHECK(known.Cover(State("a", "u", 1), 0));
  CHECK(known.RemembersSince(0));
  known.Age();
  CHECK_FALSE(known.Cover(State("a", "u", 1), 0));
  CHECK(known.Cover(State("b", "u", 1), 0));
  CHECK_FALSE(known.RemembersSince(0));
  CHECK(known.RemembersSince(1));
}

TEST_CASE("deletions of any number of objects take a limited memory, which is charged") {
  const auto budget = std::make_shared<base::ByteBudget>(int64_t{1} << 30);
  {
    KnownDeletions known(budget);
    const std::string name(200, 'n');
    for (int i = 0; i < 200'000; ++i) known.Add({"", absl::StrCat(name, i)}, {i, ""});
    CHECK(budget->used() > 0);
    CHECK(budget->used() <= 2 * int64_t{KnownDeletions::kMostBytes} + 4096);
    CHECK_FALSE(known.RemembersSince(0));
    CHECK(known.Cover(State(absl::StrCat(name, 199'999), "u", 1), 0));
  }
  CHECK(budget->used() == 0);
}

TEST_CASE("what is forgotten is charged no more") {
  const auto budget = std::make_shared<base::ByteBudget>(int64_t{1} << 30);
  KnownDeletions known(budget);
  known.Add({"ns", "by-us"}, {10, std::string(100, 'u')});
  known.Add({"ns", "by-us"}, {11, std::string(200, 'v')});
  known.Age();
  known.Add({"ns", "by-watch"}, {12, ""});
  CHECK(budget->used() > 300);
  known.Forget(3);
  CHECK(budget->used() == 0);
  CHECK_FALSE(known.Cover(State("by-us", "x", 1), 0));
}

}  // namespace kube::internal
