// Which templates are marked because an autoscaler scales them.
#include "controllers/scale_target/register.h"
#include "controllers/scale_target/scale_target_reconciler.h"

#include <catch2/catch.hpp>
#include <string>

#include "absl/strings/str_cat.h"
#include "tests/support/loops_fixture.h"

namespace {

using tests::Eventually;
using tests::Parse;

kube::Object Autoscaler(const std::string& name, const std::string& target,
                        bool propagated = true) {
  kube::Object object = Parse(absl::StrCat(
      R"({"apiVersion": "autoscaling/v2", "kind": "HorizontalPodAutoscaler",
          "metadata": {"namespace": "ns", "name": ")",
      name, R"("},
          "spec": {"scaleTargetRef": {"apiVersion": "apps/v1", "kind": "Deployment", "name": ")",
      target, R"("}}})"));
  if (propagated) object.SetLabel(api::kPropagationPolicyIdLabel, "id");
  return object;
}

struct Fixture : tests::LoopsFixture {
  Fixture() {
    Sync({api::HorizontalPodAutoscalers()});
    Make();
    for (const char* name : {"web", "other"}) {
      server->Put(api::Deployments(), kube::Object::Make(api::Deployments().gvk, {"ns", name}));
    }
  }
  void Run() {
    REQUIRE(controllers::RegisterScaleTarget(Context(), 1).ok());
    Start();
  }
  void Put(const kube::Object& autoscaler) {
    server->Put(api::HorizontalPodAutoscalers(), autoscaler);
  }
  bool IsMarked(const std::string& name) const {
    return server->Find(api::Deployments(), {"ns", name}).Label(api::kRetainReplicasLabel) ==
           api::kRetainReplicasValue;
  }
};

}  // namespace

TEST_CASE_METHOD(Fixture, "what a propagated autoscaler scales is marked until it is let go") {
  Put(Autoscaler("a", "web"));
  Run();
  REQUIRE(Eventually([&] { return IsMarked("web"); }));
  SECTION("the autoscaler is deleted") {
    server->Erase(api::HorizontalPodAutoscalers(), {"ns", "a"});
    CHECK(Eventually([&] { return !IsMarked("web"); }));
  }
  SECTION("it scales another one") {
    Put(Autoscaler("a", "other"));
    CHECK(Eventually([&] { return !IsMarked("web") && IsMarked("other"); }));
  }
  SECTION("another one scales it, too") {
    Put(Autoscaler("b", "web"));
    REQUIRE(Shows(api::HorizontalPodAutoscalers(),
                  server->Find(api::HorizontalPodAutoscalers(), {"ns", "b"})));
    Put(Autoscaler("a", "other"));
    CHECK(Eventually([&] { return IsMarked("other"); }));
    CHECK(IsMarked("web"));
  }
}

TEST_CASE_METHOD(Fixture,
                 "an autoscaler that is not propagated marks nothing, and no label is lost") {
  kube::Object web = server->Find(api::Deployments(), {"ns", "web"});
  web.SetLabel(api::kRetainReplicasLabel, api::kRetainReplicasValue);
  server->Put(api::Deployments(), web);
  Put(Autoscaler("a", "other", false));
  Put(Autoscaler("gone", "nobody"));
  Put(Autoscaler("b", "web"));
  Run();
  Put(Autoscaler("c", "other"));
  REQUIRE(Eventually([&] { return IsMarked("other"); }));
  CHECK(IsMarked("web"));
  // The label that a user has set is not written again.
  CHECK(server->Requests("PATCH").size() == 1);
}

TEST_CASE_METHOD(Fixture, "a target of which the cache has not heard yet is marked") {
  Sync({api::Deployments()});
  Put(Autoscaler("a", "late"));
  REQUIRE(Shows(api::HorizontalPodAutoscalers(),
                server->Find(api::HorizontalPodAutoscalers(), {"ns", "a"})));
  server->EndWatches(absl::UnavailableError("cut"));  // The clock stands still: nobody reconnects.
  server->Put(api::Deployments(), kube::Object::Make(api::Deployments().gvk, {"ns", "late"}));
  Run();
  CHECK(Eventually([&] { return IsMarked("late"); }));
}
