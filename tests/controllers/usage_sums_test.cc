#include "controllers/federated_quota/usage_sums.h"

#include <catch2/catch.hpp>
#include <string>

namespace {

using controllers::UsageSum;

struct Fixture {
  controllers::UsageSums sums;
  int counted = 0;

  UsageSum Count() {
    ++counted;
    UsageSum sum;
    sum.errors.push_back(absl::InternalError(std::to_string(counted)));
    return sum;
  }
  // Which count the answer is of.
  std::string Of(const char* ns) {
    return std::string(sums.Of(ns, [&] { return Count(); }).errors.at(0).message());
  }
};

TEST_CASE_METHOD(Fixture, "the bindings of a namespace are counted once for all quotas") {
  for (int i = 0; i < 1000; ++i) CHECK(Of("a") == "1");
  CHECK(Of("b") == "2");
  sums.Changed("a");
  for (int i = 0; i < 1000; ++i) CHECK(Of("a") == "3");
  CHECK(counted == 3);
}

TEST_CASE_METHOD(Fixture, "a change while bindings are counted is not lost") {
  const UsageSum first = sums.Of("a", [&] {
    UsageSum sum = Count();
    sums.Changed("a");  // The count may have seen it or not.
    return sum;
  });
  CHECK(first.errors.at(0).message() == "1");
  CHECK(Of("a") == "2");
  CHECK(Of("a") == "2");
}

}  // namespace
