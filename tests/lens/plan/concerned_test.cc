#include "lens/plan/concerned.h"

#include <algorithm>
#include <catch2/catch.hpp>
#include <string>

#include "tests/lens/plan/live_plane.h"

namespace lens::plan {
namespace {

// A workload with a policy of its own, in a namespace of its own.
std::string Workload(const std::string& ns, const std::string& affinity) {
  return absl::StrCat("apiVersion: policy.karmada.io/v1alpha1\nkind: PropagationPolicy\n",
                      "metadata: {name: web, namespace: ", ns, "}\nspec:\n",
                      "  resourceSelectors: [{apiVersion: apps/v1, kind: Deployment}]\n",
                      "  placement: {clusterAffinity: ", affinity, "}\n---\n",
                      "apiVersion: apps/v1\nkind: Deployment\nmetadata: {name: web, namespace: ",
                      ns, "}\nspec:\n  replicas: 1\n  selector: {matchLabels: {app: web}}\n",
                      "  template: {metadata: {labels: {app: web}}, spec: {containers: [{name: ",
                      "main, image: nginx}]}}\n");
}

}  // namespace

TEST_CASE_METHOD(LivePlane,
                 "What if: what names other clusters alone, and is placed, is left out") {
  Apply(Workload("apart", "{clusterNames: [m2]}"));
  Apply(Workload("anywhere", "{}"));
  Apply(Workload("nowhere", "{clusterNames: [m9]}"));
  REQUIRE(live->Settle({}).ok());
  const auto left_out = [&](const FleetEdit& edit, LiveState& state) {
    LiveReader reader(*client, *kube::Discover(*client, {}));
    state = *reader.ReadAll({}, {});
    return LeaveOutUnconcerned({edit}, state);
  };
  const auto is_apart = [](const kube::Object& one) { return one.ns() == "apart"; };
  LiveState state;
  const State out = left_out(Without("m1"), state);
  REQUIRE(out.bindings.size() == 1);
  CHECK(is_apart(*out.bindings[0]));
  REQUIRE(out.templates.size() == 1);
  CHECK(is_apart(*out.templates[0]));
  REQUIRE(out.works.size() == 1);
  CHECK(out.works[0]->ns() == "karmada-es-m2");
  // What is simulated knows nothing of it: neither its policy nor itself.
  for (const auto* objects : {&state.scenery, &state.templates, &state.bindings}) {
    CHECK(std::none_of(objects->begin(), objects->end(), is_apart));
    CHECK_FALSE(objects->empty());
  }
  CHECK(std::any_of(state.scenery.begin(), state.scenery.end(), [](const kube::Object& one) {
    return one.ns() == "anywhere" && one.kind() == api::PropagationPolicies().gvk.kind;
  }));
  CHECK(left_out(Without("m2"), state).bindings.empty());
  // A cluster from which something may be evicted anyway counts as one that changes.
  Apply(
      "apiVersion: cluster.karmada.io/v1alpha1\nkind: Cluster\nmetadata: {name: m2}\n"
      "spec: {taints: [{key: drain, effect: NoExecute}]}\n");
  CHECK(left_out(Without("m1"), state).bindings.empty());
}

TEST_CASE_METHOD(LivePlane,
                 "What if: what selects by labels is left out where no label concerns it") {
  Apply(Workload("tagged", "{labelSelector: {matchLabels: {tier: edge}}}"));
  REQUIRE(live->Settle({}).ok());
  const auto is_left_out = [&](const std::vector<FleetEdit>& asked) {
    LiveReader reader(*client, *kube::Discover(*client, {}));
    LiveState state = *reader.ReadAll({}, {});
    const State out = LeaveOutUnconcerned(asked, state);
    return std::any_of(out.bindings.begin(), out.bindings.end(),
                       [](const kube::ObjectPtr& one) { return one->ns() == "tagged"; });
  };
  const auto joining = [](const std::string& tier) {
    kube::Object cluster = kube::Object::Make(api::Clusters().gvk, {"", "m3"});
    cluster.SetLabel("tier", tier);
    return *Joining(cluster);
  };
  // It is in m1, which has the label.
  CHECK_FALSE(is_left_out({Without("m1")}));
  CHECK(is_left_out({Without("m2")}));
  CHECK(is_left_out({Cordoned("m2"), *ParseLabel("m2:zone=a")}));
  CHECK_FALSE(is_left_out({*ParseLabel("m2:tier=edge")}));
  CHECK_FALSE(is_left_out({*ParseLabel("m1:tier-")}));
  CHECK(is_left_out({joining("core")}));
  CHECK_FALSE(is_left_out({joining("edge")}));
  CHECK_FALSE(is_left_out({*ParseLabel("m3:tier=edge"), joining("core")}));
  // It joins with the label, before it loses it.
  CHECK_FALSE(is_left_out({joining("edge"), *ParseLabel("m3:tier-")}));
}

TEST_CASE_METHOD(LivePlane, "What if: what is left out of the simulation is in the answer") {
  Apply(Workload("apart", "{clusterNames: [m2]}"));
  REQUIRE(live->Settle({}).ok());
  LiveReader reader(*client, *kube::Discover(*client, {}));
  PlanRequest request;
  request.live = &reader;
  request.edits = {Without("m1")};
  const auto plan = MakePlan(request, {});
  REQUIRE(plan.ok());
  const auto apart = std::find_if(plan->templates.begin(), plan->templates.end(),
                                  [](const auto& change) { return change.id.ns == "apart"; });
  REQUIRE(apart != plan->templates.end());
  CHECK(apart->outcome.targets == std::set<std::string>{"m2"});
  CHECK(plan->what_if->fates.at(apart->id).verdict == Verdict::kUnchanged);
}

}  // namespace lens::plan
