#include "kube/meta/pod_request.h"

#include <catch2/catch.hpp>
#include <limits>
#include <map>
#include <string>

namespace kube {
namespace {

std::map<std::string, int64_t> Amounts(const PodRequest& request) {
  std::map<std::string, int64_t> amounts;
  for (const PodRequest::Amount& amount : request.amounts()) {
    amounts[std::string(amount.name())] = amount.value;
  }
  return amounts;
}

}  // namespace

TEST_CASE("a pod requests the sum of its containers, or its largest init container, and more") {
  const json::Value names = json::Value::Object({{"cpu", ""}, {"memory", ""}});
  const json::Member& cpu = names.members()[0];
  const json::Member& memory = names.members()[1];
  PodRequest request;
  request.AddContainer(cpu, Quantity::FromMilli(100));
  request.AddContainer(cpu, Quantity::FromMilli(150));
  request.AddContainer(memory, Quantity::FromInt(10));
  request.AddInitContainer(cpu, Quantity::FromMilli(200));
  request.AddInitContainer(memory, Quantity::FromInt(30));
  request.AddInitContainer(memory, Quantity::FromInt(20));
  request.AddOverhead(memory, Quantity::FromInt(1));
  CHECK(Amounts(request) == std::map<std::string, int64_t>{{"cpu", 250}, {"memory", 31}});
  REQUIRE(request.amounts().size() == 2);
  CHECK(request.amounts()[0].resource == &cpu);
}

TEST_CASE("what a pod requests does not overflow") {
  const json::Value names = json::Value::Object({{"memory", ""}});
  constexpr int64_t kMost = std::numeric_limits<int64_t>::max();
  PodRequest request;
  request.AddContainer(names.members()[0], Quantity::FromInt(kMost));
  request.AddContainer(names.members()[0], Quantity::FromInt(kMost));
  CHECK(Amounts(request) == std::map<std::string, int64_t>{{"memory", kMost}});
}

}  // namespace kube
