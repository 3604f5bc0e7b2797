#include "controllers/context/scale_target.h"

#include <catch2/catch.hpp>
#include <string>

#include "kube/client/errors.h"
#include "tests/support/members_fixture.h"

namespace {

using controllers::ScaleTarget;
using tests::kConfigMaps;
using tests::kDeployments;
using tests::Parse;

struct Fixture : tests::MembersFixture {
  base::StopToken never;
  ScaleTarget web{kDeployments.gvk, {"ns", "web"}};

  Fixture() {
    server->Put(kDeployments, Parse(R"({"apiVersion": "apps/v1", "kind": "Deployment",
        "metadata": {"name": "web", "namespace": "ns"},
        "spec": {"replicas": 2, "selector": {"matchLabels": {"app": "web"}}},
        "status": {"replicas": 1}})"));
    server->Put(kConfigMaps, Parse(R"({"apiVersion": "v1", "kind": "ConfigMap",
        "metadata": {"name": "settings", "namespace": "ns"}})"));
  }
  int64_t Replicas() { return server->Find(kDeployments, web.key).spec()["replicas"].AsInt(); }
};

TEST_CASE_METHOD(Fixture, "the scale of an object is read and its replicas are set") {
  const auto scale = controllers::GetScale(cluster, web, never);
  REQUIRE(scale.ok());
  const controllers::ScaleView view(**scale);
  CHECK(view.Replicas() == 2);
  CHECK(view.StatusReplicas() == 1);
  CHECK(view.Selector() == "app=web");
  REQUIRE(controllers::SetReplicas(cluster, {web, *scale}, 5, never).ok());
  CHECK(Replicas() == 5);
  CHECK(server->Requests("PATCH") ==
        std::vector<std::string>{"PATCH /apis/apps/v1/namespaces/ns/deployments/web/scale"});
}

TEST_CASE_METHOD(Fixture, "replicas that an object has already are not written") {
  const auto scale = controllers::GetScale(cluster, web, never);
  REQUIRE(scale.ok());
  CHECK(controllers::SetReplicas(cluster, {web, *scale}, 2, never).ok());
  CHECK(server->Requests("PATCH").empty());
}

TEST_CASE_METHOD(Fixture, "an object that changed after its scale was read is not scaled") {
  const auto scale = controllers::GetScale(cluster, web, never);
  REQUIRE(scale.ok());
  kube::Object changed = server->Find(kDeployments, web.key);
  changed.Set({"spec", "replicas"}, 7);
  server->Put(kDeployments, changed);
  CHECK(kube::IsConflict(controllers::SetReplicas(cluster, {web, *scale}, 5, never)));
  CHECK(Replicas() == 7);
}

TEST_CASE_METHOD(Fixture, "an object, a kind and a subresource that are not there are different") {
  SECTION("no object") {
    server->Erase(kDeployments, web.key);
    CHECK(kube::IsGone(controllers::GetScale(cluster, web, never).status()));
  }
  SECTION("no such kind") {
    web.gvk = {"example.io", "v1", "Widget"};
    const absl::Status status = controllers::GetScale(cluster, web, never).status();
    CHECK(kube::IsNoSuchKind(status));
    CHECK(status.message() == R"(no matches for kind "Widget" in version "example.io/v1")");
  }
  SECTION("no scale") {
    const absl::Status status =
        controllers::GetScale(cluster, {kConfigMaps.gvk, {"ns", "settings"}}, never).status();
    CHECK(status.code() == absl::StatusCode::kFailedPrecondition);
    CHECK(status.message() ==
          "ConfigMap ns/settings cannot be scaled: objects of kind ConfigMap (v1) have no scale "
          "subresource");
  }
}

TEST_CASE("a scale target is what scaleTargetRef names in the autoscaler's namespace") {
  const auto target = [](const std::string& reference) {
    return controllers::ScaleTargetOf(Parse(R"({"metadata": {"namespace": "ns", "name": "a"},
        "spec": {"scaleTargetRef": )" + reference +
                                            "}}"));
  };
  const auto web = target(R"({"apiVersion": "apps/v1", "kind": "Deployment", "name": "web"})");
  REQUIRE(web.ok());
  CHECK(web->gvk == kDeployments.gvk);
  CHECK(web->Describe() == "Deployment ns/web");
  for (const char* bad : {R"({"apiVersion": "a/b/c", "kind": "Deployment", "name": "web"})",
                          R"({"apiVersion": "apps/v1", "name": "web"})",
                          R"({"apiVersion": "apps/v1", "kind": "Deployment"})", "null"}) {
    CAPTURE(bad);
    CHECK(absl::IsInvalidArgument(target(bad).status()));
  }
}

}  // namespace
