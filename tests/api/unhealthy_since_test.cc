#include "api/unhealthy_since.h"

#include <catch2/catch.hpp>

#include "absl/strings/str_cat.h"

namespace {

constexpr char kNoItems[] = "[]";
constexpr char kUnhealthyInBoth[] = R"([{"clusterName": "m1", "health": "Unhealthy"},
                                        {"clusterName": "m2", "health": "Unhealthy"}])";
constexpr char kHealthyInM1[] = R"([{"clusterName": "m1", "health": "Healthy"},
                                    {"clusterName": "m2", "health": "Unhealthy"}])";

kube::Object Binding(const char* items) {
  return kube::Object(json::Parse(absl::StrCat(
                                      R"({"spec": {"failover": {"application": {}},
      "clusters": [{"name": "m1"}, {"name": "m2"}]},
      "status": {"conditions": [{"type": "Scheduled", "status": "True"}],
                 "aggregatedStatus": )",
                                      items, "}}"))
                          .value());
}

// Returns the binding with other items, and the conditions that follow.
kube::Object With(const kube::Object& before, const char* items, absl::Time now) {
  kube::Object after = before;
  after.Set({"status", "aggregatedStatus"}, json::Parse(items).value());
  api::RecordUnhealthy(before, after, now);
  return after;
}

const absl::Time kStart = absl::FromUnixSeconds(1700000000);

}  // namespace

TEST_CASE("a binding records since when its workload is unhealthy, for each cluster") {
  const kube::Object first =
      With(Binding(kNoItems), kUnhealthyInBoth, kStart + absl::Milliseconds(1));
  CHECK(api::UnhealthySince(first, "m1") == kStart + absl::Seconds(1));  // Rounded up.
  CHECK(api::UnhealthySince(first, "m2") == kStart + absl::Seconds(1));
  CHECK_FALSE(api::UnhealthySince(first, "m3").has_value());
  CHECK(first.status()["conditions"].size() == 3);

  const kube::Object later = With(first, kUnhealthyInBoth, kStart + absl::Seconds(60));
  CHECK(later == first);

  const kube::Object healed = With(later, kHealthyInM1, kStart + absl::Seconds(70));
  CHECK_FALSE(api::UnhealthySince(healed, "m1").has_value());
  CHECK(api::UnhealthySince(healed, "m2") == kStart + absl::Seconds(1));

  const kube::Object again = With(healed, kUnhealthyInBoth, kStart + absl::Seconds(80));
  CHECK(api::UnhealthySince(again, "m1") == kStart + absl::Seconds(80));
  CHECK(api::UnhealthySince(again, "m2") == kStart + absl::Seconds(1));
}

TEST_CASE("only health ends the time: it goes on while the health is unknown or not reported") {
  const kube::Object first = With(Binding(kNoItems), kUnhealthyInBoth, kStart);
  const char* unclear = GENERATE(R"([{"clusterName": "m1", "health": "Unknown"}])",
                                 R"([{"clusterName": "m1"}])", kNoItems);
  const kube::Object unknown = With(first, unclear, kStart + absl::Seconds(10));
  CHECK(api::UnhealthySince(unknown, "m1") == kStart);
  CHECK(With(unknown, unclear, kStart + absl::Seconds(15)) == unknown);
  const kube::Object again = With(unknown, kUnhealthyInBoth, kStart + absl::Seconds(20));
  CHECK(api::UnhealthySince(again, "m1") == kStart);
  CHECK(api::UnhealthySince(again, "m2") == kStart);

  const kube::Object healed = With(unknown, kHealthyInM1, kStart + absl::Seconds(20));
  CHECK_FALSE(api::UnhealthySince(healed, "m1").has_value());
  // What was never seen unhealthy has no time.
  CHECK_FALSE(api::UnhealthySince(With(Binding(kNoItems), unclear, kStart), "m1").has_value());
}

TEST_CASE("the conditions of others keep their places") {
  kube::Object first = With(Binding(kNoItems), kUnhealthyInBoth, kStart);
  first.mutable_root()
      .Mutable({"status", "conditions"})
      .Append(json::Parse(R"({"type": "FullyApplied", "status": "True"})").value());
  CHECK(With(first, kUnhealthyInBoth, kStart + absl::Seconds(60)) == first);
}

TEST_CASE("a condition of somebody else whose type ends alike stays") {
  kube::Object first = With(Binding(kNoItems), kUnhealthyInBoth, kStart);
  const json::Value other =
      json::Parse(R"({"type": "db/Unhealthy", "status": "False", "reason": "Probe"})").value();
  first.mutable_root().Mutable({"status", "conditions"}).Append(other);
  const kube::Object healed = With(
      first,
      R"([{"clusterName": "m1", "health": "Healthy"}, {"clusterName": "m2", "health": "Healthy"}])",
      kStart + absl::Seconds(10));
  const json::Value& left = healed.status()["conditions"];
  REQUIRE(left.size() == 2);
  CHECK(left.At(1) == other);
}

TEST_CASE("a moment that another writer has brought back does not count") {
  const kube::Object first = With(Binding(kNoItems), kUnhealthyInBoth, kStart);
  kube::Object healed = With(first, kHealthyInM1, kStart + absl::Seconds(10));
  healed.Set({"status", "conditions"}, first.status()["conditions"]);
  const kube::Object again = With(healed, kUnhealthyInBoth, kStart + absl::Seconds(20));
  CHECK(api::UnhealthySince(again, "m1") == kStart + absl::Seconds(20));
  CHECK(api::UnhealthySince(again, "m2") == kStart);
}

TEST_CASE("clusters that are no targets, and bindings without failover, have no such condition") {
  const kube::Object first = With(Binding(kNoItems), kUnhealthyInBoth, kStart);
  kube::Object left = first;
  left.Set({"spec", "clusters"}, json::Parse(R"([{"name": "m2"}])").value());
  left = With(left, kUnhealthyInBoth, kStart);
  CHECK_FALSE(api::UnhealthySince(left, "m1").has_value());
  CHECK(api::UnhealthySince(left, "m2") == kStart);

  left.Erase({"spec", "failover"});
  CHECK_FALSE(api::AsksForApplicationFailover(left));
  left = With(left, kUnhealthyInBoth, kStart);
  CHECK(left.status()["conditions"] == Binding(kNoItems).status()["conditions"]);

  kube::Object bare(json::Parse(R"({"spec": {}, "status": {}})").value());
  CHECK(With(bare, kNoItems, kStart).status().Has("conditions") == false);
}
