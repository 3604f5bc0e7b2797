// What waits for what when a recorded order is done again.
#include "tests/prove/delivery_order.h"

#include <catch2/catch.hpp>

#include "absl/strings/match.h"

namespace {

using Lines = std::vector<std::string>;

sandbox::RequestPtr RequestFor(const std::string& verb, const std::string& resource,
                               const std::string& name = "") {
  auto facts = std::make_shared<sandbox::RequestFacts>();
  facts->server = "member1";
  facts->info.is_resource = true;
  facts->info.verb = verb;
  facts->info.gvr = {"", "v1", resource};
  facts->info.key = {name.empty() ? "" : "d", name};
  facts->http = std::make_shared<base::HttpRequest>();
  return facts;
}

sandbox::Delivery Added(const std::string& resource, const std::string& name, int64_t version = 1) {
  return {RequestFor("watch", resource), "ADDED",
          std::make_shared<const kube::Object>(json::Value::Object(
              {{"kind", "Any"},
               {"metadata", json::Value::Object({{"namespace", "d"}, {"name", name}})}})),
          version};
}

prove::DeliveryOrder OrderOf(Lines again = {}) {
  return {std::make_shared<prove::Perturbation>(), std::move(again)};
}

}  // namespace

TEST_CASE("An order has the deliveries and the writes of each step as they came") {
  auto order = OrderOf();
  order.OnDelivery(Added("secrets", "a"));
  order.BeginStep(1);
  const auto update = RequestFor("update", "configmaps", "b");
  order.OnRequest(update);
  order.OnRequest(RequestFor("get", "configmaps", "b"));
  order.OnDelivery(Added("secrets", "a", 8));
  order.OnExecuted(update, {.code = 200, .stored = {7}});  // As late as the server may say so.
  CHECK(order.Lines() == Lines{"0 deliver member1 secrets ADDED d/a",
                               "1 write member1 update configmaps d/b",
                               "1 deliver member1 secrets ADDED d/a"});
  CHECK(order.OnRequest(RequestFor("watch", "secrets")).gate != nullptr);  // The perturbation's.
}

TEST_CASE("What is done again and does not come is given up after half a minute, and named") {
  auto order =
      OrderOf({"0 write member1 update configmaps d/b", "0 deliver member1 secrets ADDED d/a"});
  order.LetThrough(absl::Seconds(101));
  order.LetThrough(absl::Seconds(120));
  CHECK(order.Missed().empty());
  order.LetThrough(absl::Seconds(140));
  CHECK(order.Missed() == Lines{"0 write member1 update configmaps d/b"});
  order.OnDelivery(Added("secrets", "a"));
  order.OnDelivery(Added("secrets", "c"));
  CHECK(order.Unknown() == Lines{"0 deliver member1 secrets ADDED d/c"});
  order.End();
  CHECK(order.Missed().size() == 1);
}

TEST_CASE("What a step has not brought is not waited for in the next one") {
  auto order =
      OrderOf({"0 deliver member1 secrets ADDED d/a", "1 write member1 update configmaps d/b",
               "1 write member1 update configmaps d/b"});
  order.LetThrough(absl::Seconds(10));
  order.BeginStep(1);
  order.LetThrough(absl::Seconds(100));  // The time before does not count.
  CHECK(order.Missed() == Lines{"0 deliver member1 secrets ADDED d/a"});
  order.OnRequest(RequestFor("update", "configmaps", "b"));
  order.End();
  CHECK(order.Missed() ==
        Lines{"0 deliver member1 secrets ADDED d/a", "1 write member1 update configmaps d/b"});
}

TEST_CASE("A run that decides itself when events are delivered is not done again in an order") {
  const auto plans = prove::ReadPlans("late host/pods 2");
  REQUIRE(plans.ok());
  CHECK(absl::IsUnimplemented(prove::ReadOrder("any", *plans).status()));
}
