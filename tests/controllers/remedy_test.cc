#include "controllers/remedy/register.h"
#include "controllers/remedy/remedy_reconciler.h"

#include <catch2/catch.hpp>
#include <optional>
#include <string>
#include <vector>

#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "api/remedy.h"
#include "tests/support/loops_fixture.h"

namespace {

using tests::Eventually;
using tests::Json;

constexpr char kNames[] = "ServiceDomainNameResolutionReady";

kube::Object Cluster(const std::string& name, const std::string& status = "") {
  kube::Object cluster = kube::Object::Make(api::Clusters().gvk, {"", name});
  if (status.empty()) return cluster;
  cluster.Set({"status", "conditions"},
              Json(absl::StrCat(R"([{"type": ")", kNames, R"(", "status": ")", status, "\"}]")));
  return cluster;
}

std::string When(const std::string& op, const std::string& status) {
  return absl::StrCat(R"({"clusterConditionMatch": {"conditionType": ")", kNames,
                      R"(", "operator": ")", op, R"(", "conditionStatus": ")", status, "\"}}");
}

kube::Object Remedy(const std::string& name, const std::string& spec) {
  kube::Object remedy = kube::Object::Make(api::Remedies().gvk, {"", name});
  remedy.Set({"spec"}, Json(absl::StrCat("{", spec, "}")));
  return remedy;
}

struct Fixture : tests::LoopsFixture {
  std::optional<controllers::RemedyReconciler> reconciler;

  Fixture() {
    Sync({api::Remedies(), api::Clusters()});
    reconciler.emplace(Make());
  }
  void Put(const kube::Object& remedy) { PutCached(api::Remedies(), remedy); }
  absl::Status Reconcile(const std::string& cluster) {
    return reconciler->Reconcile({.key = {"", cluster}}, {}).status();
  }
  std::string ActionsOf(const std::string& cluster) const {
    return json::Write(server->Find(api::Clusters(), {"", cluster}).status()["remedyActions"]);
  }
};

}  // namespace

TEST_CASE("a remedy matches by the conditions of the clusters that it names") {
  const kube::Object bad = Cluster("m1", "False"), good = Cluster("m1", "True");
  const kube::Object without = Cluster("m1");
  const auto matches = [](const kube::Object& remedy, const kube::Object& cluster) {
    return api::RemedyView(remedy).Matches(api::ClusterView(cluster));
  };
  const auto with = [](const std::string& list) {
    return Remedy("r", absl::StrCat(R"("decisionMatches": [)", list, "]"));
  };
  CHECK(matches(with(When("Equal", "False")), bad));
  CHECK_FALSE(matches(with(When("Equal", "False")), good));
  CHECK_FALSE(matches(with(When("Equal", "False")), without));
  CHECK(matches(with(When("NotEqual", "True")), bad));
  CHECK_FALSE(matches(with(When("NotEqual", "True")), good));
  CHECK_FALSE(matches(with(When("NotEqual", "True")), without));
  CHECK(
      matches(with(absl::StrCat("{}, ", When("Equal", "True"), ",", When("Equal", "False"))), bad));
  CHECK_FALSE(matches(with("{}"), bad));
  CHECK_FALSE(matches(with(""), bad));
  CHECK_FALSE(matches(with(When("Resembles", "False")), bad));
  CHECK(matches(Remedy("r", ""), without));
}

TEST_CASE_METHOD(Fixture, "a cluster gets the actions of all remedies that match, each once") {
  PutCached(api::Clusters(), Cluster("m1", "False"));
  PutCached(api::Clusters(), Cluster("m2", "False"));
  Put(Remedy("always", R"("actions": ["Watch", "TrafficControl"])"));
  Put(Remedy("one", absl::StrCat(R"("clusterAffinity": {"clusterNames": ["m1", "m9"]},
                                    "actions": ["TrafficControl", "Call"],
                                    "decisionMatches": [)",
                                 When("Equal", "False"), "]")));
  Put(Remedy("nobody", R"("clusterAffinity": {}, "actions": ["Never"])"));
  REQUIRE(Reconcile("m1").ok());
  REQUIRE(Reconcile("m2").ok());
  REQUIRE(Reconcile("m9").ok());
  CHECK(ActionsOf("m1") == R"(["Call","TrafficControl","Watch"])");
  CHECK(ActionsOf("m2") == R"(["TrafficControl","Watch"])");
  CHECK(server->Requests("PATCH").size() == 2);
  REQUIRE(Shows(api::Clusters(), server->Find(api::Clusters(), {"", "m1"})));
  reconciler.emplace(*manager);  // Forgets everything, as a restart does.
  REQUIRE(Reconcile("m1").ok());
  CHECK(server->Requests("PATCH").size() == 2);
}

TEST_CASE_METHOD(Fixture, "a cluster without remedies is not written") {
  PutCached(api::Clusters(), Cluster("m1", "False"));
  REQUIRE(Reconcile("m1").ok());
  CHECK(server->Requests("PATCH").empty());
}

TEST_CASE_METHOD(Fixture, "the registered loop follows conditions, remedies and other writers") {
  REQUIRE(controllers::RegisterRemedy(Context(), 1).ok());
  kube::Object stale = Cluster("m1", "False");  // Its remedy went while nobody ran.
  stale.Set({"status", "remedyActions"}, Json(R"(["Stale"])"));
  PutCached(api::Clusters(), stale);
  Put(Remedy("old", R"("clusterAffinity": {"clusterNames": ["m8"]})"));
  Start();
  CHECK(Eventually([&] { return ActionsOf("m1") == "null"; }));

  Put(Remedy("r", absl::StrCat(R"("clusterAffinity": {"clusterNames": ["m1", "m9"]},
      "actions": ["TrafficControl"], "decisionMatches": [)",
                               When("Equal", "False"), "]")));
  CHECK(Eventually([&] { return ActionsOf("m1") == R"(["TrafficControl"])"; }));
  CHECK(Eventually([&] { return !recorded->All().empty(); }));
  CHECK(recorded->All().at(0) ==
        absl::StrCat("Warning ClusterNotFound Remedy: there is no cluster m9, which "
                     "spec.clusterAffinity.clusterNames names. Nothing goes there before a cluster "
                     "of that name joins: join it, or mend the name"));
  server->Put(api::Clusters(), Cluster("m9", "False"));
  CHECK(Eventually([&] { return ActionsOf("m9") == R"(["TrafficControl"])"; }));
  server->Put(api::Clusters(), Cluster("m1", "True"));
  CHECK(Eventually([&] { return ActionsOf("m1") == "null"; }));
  server->Put(api::Clusters(), Cluster("m1", "False"));
  CHECK(Eventually([&] { return ActionsOf("m1") == R"(["TrafficControl"])"; }));
  server->Erase(api::Remedies(), {"", "r"});
  CHECK(Eventually([&] { return ActionsOf("m1") == "null" && ActionsOf("m9") == "null"; }));
  CHECK(recorded->All().size() == 1);
}
