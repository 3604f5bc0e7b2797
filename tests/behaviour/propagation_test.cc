// A template and its policy, from creation to deletion.
#include <optional>
#include <string>

#include <catch2/catch.hpp>

#include "api/names.h"
#include "api/resources.h"
#include "tests/behaviour/manifests.h"
#include "tests/support/control_plane.h"

namespace tests {
namespace {

int64_t ReplicasIn(ControlPlane& plane, const std::string& member, const std::string& ns) {
  const auto web = plane.Get(member, kDeployment, {ns, "web"});
  return web ? web->Get({"spec", "replicas"}).AsInt(-1) : -1;
}

std::string ImageIn(ControlPlane& plane, const std::string& member, const std::string& ns) {
  const auto web = plane.Get(member, kDeployment, {ns, "web"});
  if (!web) return "";
  return web->Get({"spec", "template", "spec", "containers"}).At(0)["image"].ToString();
}

bool IsReadyEverywhere(ControlPlane& plane, const std::string& ns, int64_t ready) {
  const auto binding = plane.Get("host", kBinding, {ns, "web-deployment"});
  const auto web = plane.Get("host", kDeployment, {ns, "web"});
  return binding && web && binding->Get({"status", "aggregatedStatus"}).size() == 2 &&
         kube::IsConditionTrue(binding->Get({"status", "conditions"}), "FullyApplied") &&
         web->Get({"status", "readyReplicas"}).AsInt() == ready &&
         web->Get({"status", "observedGeneration"}).AsInt() == web->generation();
}

void ApplyWeb(ControlPlane& plane, const std::string& ns) {
  plane.Apply("host", In(ns, kNamespaceYaml));
  plane.Apply("host", In(ns, WebDeployment()));
  plane.Apply("host", In(ns, DividedPolicy(kWebSelector, 1, 1)));
  REQUIRE(plane.Eventually([&] { return IsReadyEverywhere(plane, ns, 2); }));
}

}  // namespace

TEST_CASE("A divided deployment lands in its members and its status comes back", "[pull]") {
  ControlPlane plane;
  const std::string ns = plane.UniqueNamespace("land");
  ApplyWeb(plane, ns);
  CHECK(ReplicasIn(plane, "member1", ns) == 1);
  CHECK(ReplicasIn(plane, "member2", ns) == 1);
  const auto binding = plane.Get("host", kBinding, {ns, "web-deployment"});
  for (const json::Value& item : binding->Get({"status", "aggregatedStatus"}).items()) {
    CHECK(item["applied"].AsBool());
    CHECK(item["health"].AsString() == "Healthy");
    CHECK(item.Get({"status", "readyReplicas"}).AsInt() == 1);
  }

  SECTION("scaling and a new image are rolled out") {
    plane.Patch("host", kDeployment, {ns, "web"}, R"({"spec":{"replicas":5}})");
    CHECK(plane.Eventually([&] {
      return ReplicasIn(plane, "member1", ns) + ReplicasIn(plane, "member2", ns) == 5 &&
             IsReadyEverywhere(plane, ns, 5);
    }));
    plane.Patch(
        "host", kDeployment, {ns, "web"},
        R"({"spec":{"template":{"spec":{"containers":[{"name":"main","image":"nginx:1.26"}]}}}})");
    CHECK(plane.Eventually([&] {
      return ImageIn(plane, "member1", ns) == "nginx:1.26" &&
             ImageIn(plane, "member2", ns) == "nginx:1.26" && IsReadyEverywhere(plane, ns, 5);
    }));
  }
  SECTION("a label of the template comes and goes") {
    plane.Patch("host", kDeployment, {ns, "web"}, R"({"metadata":{"labels":{"x":"y"}}})");
    CHECK(plane.Eventually([&] {
      return plane.Get("member1", kDeployment, {ns, "web"})->Label("x") == "y";
    }));
    plane.Patch("host", kDeployment, {ns, "web"}, R"({"metadata":{"labels":{"x":null}}})");
    CHECK(plane.Eventually([&] {
      return plane.Get("member1", kDeployment, {ns, "web"})->Label("x").empty();
    }));
  }
  SECTION("drift in a member is put back, what the member added stays") {
    plane.Patch("member1", kDeployment, {ns, "web"},
                R"({"metadata":{"labels":{"local":"yes"}},
                    "spec":{"template":{"spec":{"containers":[{"name":"main","image":"nginx:0.1"}]}}}})");
    CHECK(plane.Eventually([&] { return ImageIn(plane, "member1", ns) == "nginx:1.25"; }));
    CHECK(plane.Get("member1", kDeployment, {ns, "web"})->Label("local") == "yes");
  }
  SECTION("an object deleted in a member comes back") {
    const std::string uid(plane.Get("member2", kDeployment, {ns, "web"})->uid());
    plane.Delete("member2", kDeployment, {ns, "web"});
    CHECK(plane.Eventually([&] {
      const auto web = plane.Get("member2", kDeployment, {ns, "web"});
      return web && web->uid() != uid && IsReadyEverywhere(plane, ns, 2);
    }));
  }
  SECTION("a binding that somebody deletes is made again") {
    const kube::ObjectKey key{ns, "web-deployment"};
    const std::string uid(plane.Get("host", kBinding, key)->uid());
    plane.Delete("host", kBinding, key);
    CHECK(plane.Eventually([&] {
      const auto now = plane.Get("host", kBinding, key);
      return now && now->uid() != uid && IsReadyEverywhere(plane, ns, 2) &&
             ReplicasIn(plane, "member1", ns) == 1 && ReplicasIn(plane, "member2", ns) == 1;
    }));
  }
  SECTION("deleting the template takes everything with it") {
    plane.Delete("host", kDeployment, {ns, "web"});
    CHECK(plane.Eventually([&] {
      return !plane.Exists("host", kBinding, {ns, "web-deployment"}) &&
             !plane.Exists("member1", kDeployment, {ns, "web"}) &&
             !plane.Exists("member2", kDeployment, {ns, "web"});
    }));
  }
  SECTION("deleting the policy frees the template and leaves the members alone") {
    plane.Delete("host", kPolicy, {ns, "divided"});
    CHECK(plane.Eventually([&] {
      const auto web = plane.Get("host", kDeployment, {ns, "web"});
      return !plane.Exists("host", kPolicy, {ns, "divided"}) &&
             web->Label("propagationpolicy.karmada.io/permanent-id").empty() &&
             web->Annotation("propagationpolicy.karmada.io/name").empty();
    }));
    CHECK(plane.Exists("host", kBinding, {ns, "web-deployment"}));
    CHECK(ReplicasIn(plane, "member1", ns) == 1);
  }
  SECTION("a cluster taken from the placement loses its object") {
    plane.Patch("host", kPolicy, {ns, "divided"},
                R"({"spec":{"placement":{"clusterAffinity":{"clusterNames":["member1"]}}}})");
    CHECK(plane.Eventually([&] {
      return !plane.Exists("member2", kDeployment, {ns, "web"}) &&
             ReplicasIn(plane, "member1", ns) == 2;
    }));
    CHECK(plane.Eventually([&] {
      return plane.Get("host", kBinding, {ns, "web-deployment"})
                 ->Get({"status", "aggregatedStatus"})
                 .size() == 1;
    }));
  }
}

// In pull mode it takes more than a minute, because of `karmadactl unregister`
// (works/unregistering.h).
TEST_CASE("Works that somebody deletes are made again") {
  ControlPlane plane;
  const std::string ns = plane.UniqueNamespace("deleted");
  ApplyWeb(plane, ns);
  SECTION("a Work that somebody deletes is made again, and its object with it") {
    const std::string space = "karmada-es-member1";
    const std::string uid(plane.Get("member1", kDeployment, {ns, "web"})->uid());
    const auto works = plane.client("host").ListAll(api::Works(), space, {}, {});
    REQUIRE(works.ok());
    for (const kube::Object& work : works->items) {
      if (work.Annotation("resourcebinding.karmada.io/namespace") == ns) {
        plane.Delete("host", kWork, work.key());
      }
    }
    CHECK(plane.Eventually([&] {
      const auto web = plane.Get("member1", kDeployment, {ns, "web"});
      return web && web->uid() != uid && IsReadyEverywhere(plane, ns, 2);
    }));
  }
  SECTION("the Work of a namespace that somebody deletes is made again") {
    const auto namespace_work = [&]() -> std::optional<kube::Object> {
      const auto works = plane.client("host").ListAll(api::Works(), "karmada-es-member1", {}, {});
      if (!works.ok()) return std::nullopt;
      for (const kube::Object& work : works->items) {
        if (work.ControllerOwner().name == ns) return work;
      }
      return std::nullopt;
    };
    REQUIRE(plane.Eventually([&] { return namespace_work().has_value(); }));
    const kube::Object work = *namespace_work();
    plane.Delete("host", kWork, work.key());
    CHECK(plane.Eventually([&] {
      const auto now = namespace_work();
      return now && now->uid() != work.uid();
    }));
  }
}

TEST_CASE("A restart with nothing to do changes nothing", "[pull]") {
  ControlPlane plane;
  const std::string ns = plane.UniqueNamespace("restart");
  ApplyWeb(plane, ns);
  const std::string work = api::WorkName("Deployment", "web", ns);
  // Versions in the control plane; for members only our part of the objects, because their own
  // controllers may still write the status.
  const auto versions = [&] {
    std::string all;
    for (const auto& [gvk, key] : std::vector<std::pair<kube::Gvk, kube::ObjectKey>>{
             {kDeployment, {ns, "web"}},
             {kBinding, {ns, "web-deployment"}},
             {kPolicy, {ns, "divided"}},
             {kWork, {api::ExecutionNamespace("member1"), work}},
             {kWork, {api::ExecutionNamespace("member2"), work}}}) {
      all += std::string(plane.Get("host", gvk, key)->resource_version()) + " ";
    }
    for (const std::string member : {"member1", "member2"}) {
      kube::Object web = *plane.Get(member, kDeployment, {ns, "web"});
      web.Erase({"status"});
      web.Erase({"metadata", "resourceVersion"});
      all += json::Write(web.root()) + " ";
    }
    return all;
  };
  REQUIRE(plane.Settles(versions, absl::Seconds(2)));
  plane.StopDaemon();
  const std::string before = versions();
  plane.StartDaemon();
  plane.AwaitDaemon(ns);
  std::string after;
  plane.Always([&] { return (after = versions()) == before; });
  CHECK(after == before);
}

TEST_CASE("A change made while the controller manager was down is rolled out when it is back",
          "[pull]") {
  ControlPlane plane;
  const std::string ns = plane.UniqueNamespace("missed");
  ApplyWeb(plane, ns);
  plane.StopDaemon();
  plane.Patch(
      "host", kDeployment, {ns, "web"},
      R"({"spec":{"template":{"spec":{"containers":[{"name":"main","image":"nginx:1.27"}]}}}})");
  plane.Delete("member2", kDeployment, {ns, "web"});
  plane.StartDaemon();
  CHECK(plane.Eventually([&] {
    return ImageIn(plane, "member1", ns) == "nginx:1.27" &&
           ImageIn(plane, "member2", ns) == "nginx:1.27";
  }));
}

}  // namespace tests
