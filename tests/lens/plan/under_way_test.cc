// Evictions that are under way before a question about the fleet.
#include "lens/plan/under_way.h"

#include <catch2/catch.hpp>

#include "api/eviction.h"
#include "tests/lens/plan/live_plane.h"

namespace lens::plan {
namespace {

using Notes = std::vector<std::string>;

json::Value Task(const std::string& cluster) {
  return json::Value::Object({{"fromCluster", cluster},
                              {"reason", "TaintUntolerated"},
                              {"producer", "TaintManager"},
                              {"purgeMode", "Gracefully"}});
}

kube::Object BindingWith(const std::vector<json::Value>& tasks) {
  kube::Object binding =
      kube::Object::Make({"work.karmada.io", "v1alpha2", "ResourceBinding"}, {"shop", "web"});
  binding.Set({"spec", "resource"}, json::Value::Object({{"apiVersion", "apps/v1"},
                                                         {"kind", "Deployment"},
                                                         {"namespace", "shop"},
                                                         {"name", "web"}}));
  json::Value list = json::Value::Array();
  for (const json::Value& task : tasks) list.Append(task);
  binding.Set({"spec", "gracefulEvictionTasks"}, std::move(list));
  return binding;
}

Departure DepartureFrom(const std::string& cluster) {
  return {{"apps", "Deployment", "shop", "web"}, cluster, absl::ZeroDuration(), "Gracefully"};
}

}  // namespace

TEST_CASE("Evictions under way are counted by cluster, and by what becomes of them") {
  json::Value of_user = Task("m1"), keeps_away = Task("m1");
  of_user.Set("suppressDeletion", true);
  keeps_away.Set("message", api::kKeepsAwayMessage);
  EvictionsUnderWay under_way;
  CHECK(under_way.Notes({Without("m1")}, {}).empty());
  under_way.CountTasks(BindingWith({Task("m1"), Task("m2")}));
  under_way.CountTasks(BindingWith({Task("m1"), keeps_away}));
  under_way.CountTasks(BindingWith({of_user}));
  under_way.CountPending({DepartureFrom("m3")});
  CHECK(under_way.Notes({Cordoned("m1")}, {}) ==
        Notes{"2 evictions from m1 (Deployment shop/web, Deployment shop/web) are under way, and "
              "taken to have ended before the change.",
              "1 eviction from m2 (Deployment shop/web) is under way, and taken to have ended "
              "before the change.",
              "1 eviction from m3 (Deployment shop/web) is about to begin because of a taint that "
              "is there already, and "
              "taken to have ended before the change.",
              "1 eviction from m1 (Deployment shop/web) is under way until a user ends it "
              "(suppressDeletion)."});
  EvictionsUnderWay many;
  many.CountPending({DepartureFrom("m1"), DepartureFrom("m1"), DepartureFrom("m1"),
                     DepartureFrom("m1"), DepartureFrom("m1")});
  CHECK_THAT(many.Notes({}, {}).at(0),
             Catch::StartsWith("5 evictions from m1 (Deployment shop/web, Deployment shop/web, "
                               "Deployment shop/web and 2 more) are about to begin"));
  EvictionsUnderWay one;
  one.CountTasks(BindingWith({Task("m1")}));
  const std::string says =
      "1 eviction from m1 (Deployment shop/web) is under way, and taken to have ended before the "
      "change.";
  CHECK(one.Notes({Without("m2")}, {}) == Notes{says});
  CHECK(one.Notes({Without("m1")}, {}) ==
        Notes{says +
              " Copies that are still there go with it, whether the others are healthy or not."});
  // Nobody can delete them in a cluster that does not answer.
  CHECK(one.Notes({Without("m1")}, {{"m1", {}}}) ==
        Notes{says + " Copies that are still there run on, and belong to nobody."});
  CHECK(
      one.Notes({Lost("m1")}, {}) ==
      Notes{
          says +
          " Copies that are still there are lost with it, whether the others are healthy or not."});
}

TEST_CASE_METHOD(LivePlane, "What if: evictions that are under way are said, and count as ended") {
  const kube::Gvr bindings = api::ResourceBindings().gvr();
  kube::Object binding = *live->backend().Get(bindings, {"shop", "web-deployment"}).value();
  binding.Set({"spec", "clusters"},
              json::Value::Array({json::Value::Object({{"name", "m2"}, {"replicas", 4}})}));
  binding.Set({"spec", "gracefulEvictionTasks"}, json::Value::Array({Task("m1")}));
  REQUIRE(live->Apply(binding).ok());
  REQUIRE(live->Settle({}).ok());
  edits = {Cordoned("m2")};
  CHECK(Differences("") == "");
  REQUIRE(what_if.has_value());
  CHECK(what_if->notes.back() ==
        "1 eviction from m1 (Deployment shop/web) is under way, and taken to have ended before the "
        "change.");
  // Nothing of it is said when nothing is asked about the fleet.
  edits = {};
  Differences("");
  CHECK_FALSE(what_if.has_value());
}

}  // namespace lens::plan
