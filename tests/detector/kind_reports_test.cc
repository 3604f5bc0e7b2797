// Events on policies about kinds whose objects are not propagated (yet).
#include "detector/kind_reports.h"

#include <catch2/catch.hpp>
#include <optional>
#include <string>
#include <vector>

#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "tests/support/members_fixture.h"

namespace {

const kube::Gvk kDeployment{"apps", "v1", "Deployment"};
const kube::Gvk kMisspelt{"apps", "v1", "Deploymnt"};
const kube::Gvk kScaler{"autoscaling", "v2", "HorizontalPodAutoscaler"};

struct Fixture : tests::MembersFixture {
  std::optional<detector::PolicyIndex> policies, cluster_policies;
  std::optional<detector::KindReports> reports;
  const kube::ObjectKey key{"ns", "p"};

  Fixture() {
    Sync({api::PropagationPolicies(), api::ClusterPropagationPolicies()});
    policies.emplace(informers.Get(api::PropagationPolicies()));
    cluster_policies.emplace(informers.Get(api::ClusterPropagationPolicies()));
    reports.emplace(Make(), *policies, *cluster_policies);
    PutCached(api::PropagationPolicies(), kube::Object::Make(api::PropagationPolicies().gvk, key));
    reports->SetServed({.kinds = {kDeployment, kScaler}});
  }
  // Runs two rounds of discovery, some time apart; returns the events.
  std::vector<std::string> AfterDiscovery() {
    reports->SetServed({.kinds = {kDeployment, kScaler}});
    clock.Advance(absl::Seconds(1));
    reports->SetServed({.kinds = {kDeployment, kScaler}});
    return recorded->All();
  }
};

TEST_CASE_METHOD(Fixture, "a policy that names a kind that is not served gets one warning") {
  reports->SetSelected(key, {kDeployment, kMisspelt}, false);
  const std::vector<std::string> warning = {
      "Warning ResourceNotServed PropagationPolicy: spec.resourceSelectors names apps/v1 "
      "Deploymnt, which the control plane does not serve; did you mean apps/v1 Deployment?"};
  CHECK(AfterDiscovery() == warning);
  CHECK(AfterDiscovery() == warning);
}

TEST_CASE_METHOD(Fixture, "a policy that was there before the process gets no event") {
  reports->SetSelected(key, {kMisspelt}, true);
  CHECK(AfterDiscovery().empty());
}

TEST_CASE_METHOD(Fixture, "a policy that has gone meanwhile gets no event") {
  reports->SetSelected({"ns", "gone"}, {kMisspelt}, false);
  CHECK(AfterDiscovery().empty());
}

TEST_CASE_METHOD(Fixture, "a version that the control plane does not prefer is named") {
  reports->SetSelected(key, {{"autoscaling", "v1", "HorizontalPodAutoscaler"}}, false);
  CHECK(AfterDiscovery() ==
        std::vector<std::string>{
            "Warning ResourceNotServed PropagationPolicy: spec.resourceSelectors names "
            "autoscaling/v1 HorizontalPodAutoscaler, but objects are propagated in the version "
            "that the control plane prefers; did you mean autoscaling/v2 "
            "HorizontalPodAutoscaler?"});
}

TEST_CASE_METHOD(Fixture, "a kind that waits for clusters gets one event when that lasts") {
  const detector::KindReports::Wait wait{kDeployment, {policies->Find(key)}, {"m1", "m2"}};
  reports->SetWaiting(wait);
  clock.Advance(absl::Seconds(2));
  reports->SetWaiting(wait);
  CHECK(recorded->All().empty());
  clock.Advance(absl::Seconds(1));
  reports->SetWaiting(wait);
  reports->SetWaiting(wait);
  CHECK(recorded->All() ==
        std::vector<std::string>{
            "Normal WaitingForKind PropagationPolicy: objects of the new kind apps/v1 Deployment "
            "wait, for 30s at most, until its clusters serve it; these do not yet: m1, m2"});
}

TEST_CASE_METHOD(Fixture, "the end of a wait that was reported is reported, too") {
  detector::KindReports::Wait wait{kDeployment, {policies->Find(key)}, {"m1"}};
  const auto wait_and_end = [&](absl::Duration lasting) {
    reports->SetWaiting(wait);
    clock.Advance(lasting);
    reports->SetWaiting(wait);
    const size_t before = recorded->All().size();
    wait.listed = true;
    wait.clusters.clear();
    reports->SetWaitOver(wait);
    reports->SetWaitOver(wait);
    const std::vector<std::string> all = recorded->All();
    return std::vector<std::string>(all.begin() + before, all.end());
  };
  CHECK(wait_and_end(absl::Seconds(1)).empty());
  CHECK(wait_and_end(absl::Seconds(4)) ==
        std::vector<std::string>{"Normal WaitForKindEnded PropagationPolicy: the clusters serve "
                                 "apps/v1 Deployment now; its objects are propagated"});
}

TEST_CASE_METHOD(Fixture, "only policies with an event about a wait get one about its end") {
  const auto policy = [](const char* name) {
    return kube::Share(kube::Object::Make(api::PropagationPolicies().gvk, {"ns", name}));
  };
  detector::KindReports::Wait wait{kDeployment, {policy("first")}, {"m1"}};
  reports->SetWaiting(wait);
  clock.Advance(absl::Seconds(4));
  reports->SetWaiting(wait);
  REQUIRE(recorded->All().size() == 1);
  SECTION("one that comes during the wait gets both") {
    wait.policies.push_back(policy("second"));
    reports->SetWaiting(wait);
    reports->SetWaiting(wait);
    CHECK(recorded->All().size() == 2);
    reports->SetWaitOver(wait);
    CHECK(recorded->All().size() == 4);
  }
  SECTION("one that comes when the first has gone gets none") {
    wait.policies = {policy("second")};
    reports->SetWaitOver(wait);
    CHECK(recorded->All().size() == 1);
  }
  SECTION("a wait for which no policy is left is forgotten") {
    CHECK(reports->IsWaiting(kDeployment));
    reports->SetServed({.kinds = {kDeployment}});
    CHECK_FALSE(reports->IsWaiting(kDeployment));
  }
}

TEST_CASE_METHOD(Fixture, "a wait that ends without the kind is a warning that says what to do") {
  const detector::KindReports::Wait wait{kDeployment, {policies->Find(key)}, {"m1", "m2"}};
  reports->SetWaiting(wait);
  clock.Advance(absl::Seconds(30));
  reports->SetWaiting(wait);
  reports->SetWaitOver(wait);
  REQUIRE(recorded->All().size() == 2);
  CHECK(absl::StartsWith(recorded->All().back(),
                         "Warning WaitForKindEnded PropagationPolicy: objects of the new kind "
                         "apps/v1 Deployment wait no longer, although these clusters do not serve "
                         "it: m1, m2; the scheduler places no object"));
  CHECK(absl::EndsWith(recorded->All().back(), "or name them in a WorkloadRebalancer"));
}

TEST_CASE_METHOD(Fixture, "selectors that match nothing are reported once, but not at a start") {
  const kube::Object policy = *policies->Find(key);
  reports->SetRefused(policy, {.reasons = {"a is so", "b, too"}}, false);
  reports->SetRefused(policy, {.reasons = {"a is so"}}, true);
  AfterDiscovery();
  CHECK(recorded->All() == std::vector<std::string>{
                               "Warning ResourceNotPropagated PropagationPolicy: a is so; b, too"});
}

TEST_CASE_METHOD(Fixture, "a selector of a kind that comes later is judged when it comes") {
  const kube::Resource roles{{"x.io", "v1", "Role"}, "roles", /*namespaced=*/false};
  reports->SetRefused(*policies->Find(key), {.undecided = {roles.gvk}}, false);
  AfterDiscovery();
  CHECK(recorded->All().empty());
  mapper.Update({.resources = {{.resource = roles, .verbs = {}, .preferred = true}}});
  AfterDiscovery();
  CHECK(recorded->All() ==
        std::vector<std::string>{absl::StrCat("Warning ResourceNotPropagated PropagationPolicy: ",
                                              detector::ClusterScopedReason(roles.gvk))});
}

TEST_CASE_METHOD(Fixture, "a kind that was served before the process began gets no event") {
  const detector::KindReports::Wait wait{kDeployment, {policies->Find(key)}, {"m1"}, true};
  reports->SetWaiting(wait);
  clock.Advance(absl::Minutes(1));
  reports->SetWaiting(wait);
  CHECK(recorded->All().empty());
}

}  // namespace
