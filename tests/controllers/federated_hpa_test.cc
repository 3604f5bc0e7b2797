#include <catch2/catch.hpp>
#include <string>
#include <vector>

#include "absl/strings/match.h"
#include "api/keys.h"
#include "controllers/federated_hpa/register.h"
#include "kube/client/errors.h"
#include "tests/controllers/federated_hpa_fixture.h"

namespace {

using tests::Json;
using tests::kDeployments;
using tests::Parse;

struct Fixture : tests::FederatedHpaFixture {
  // Returns the events so far, without those before the last call.
  std::vector<std::string> NewEvents() {
    const std::vector<std::string> all = recorded->All();
    std::vector<std::string> fresh(all.begin() + seen_, all.end());
    seen_ = static_cast<ptrdiff_t>(all.size());
    return fresh;
  }
  // Takes the binding away, and gives the template these labels.
  void WithoutBinding(const std::vector<std::string>& labels) {
    server->Erase(api::ResourceBindings(), {"ns", "web-deployment"});
    REQUIRE(tests::Eventually([&] {
      return cluster.Find(api::ResourceBindings(), {"ns", "web-deployment"}) == nullptr;
    }));
    kube::Object web = DeploymentOf(4);
    for (const std::string& label : labels) web.SetLabel(label, "x");
    server->Put(kDeployments, web);
  }
  std::vector<std::string> Writes() {
    std::vector<std::string> writes = server->Requests("PATCH");
    return writes;
  }

 private:
  ptrdiff_t seen_ = 0;
};

constexpr char kCpu50[] = R"({"metrics": [{"type": "Resource", "resource": {"name": "cpu",
    "target": {"type": "Utilization", "averageUtilization": 50}}}]})";

TEST_CASE_METHOD(Fixture, "a template is scaled by the use of its pods in all clusters") {
  PutHpa(kCpu50);
  Use(1000);
  PassOnce();
  CHECK(Replicas() == 8);
  const json::Value status = Status();
  CHECK(status["currentReplicas"].AsInt() == 4);
  CHECK(status["desiredReplicas"].AsInt() == 8);
  CHECK(status["lastScaleTime"].AsString() == kube::FormatTime(clock.Now()));
  CHECK(status["currentMetrics"].At(0)["resource"]["current"]["averageUtilization"].AsInt() == 100);
  CHECK_FALSE(status.Has("observedGeneration"));
  CHECK(Condition("AbleToScale") == "True SucceededRescale");
  CHECK(Condition("ScalingActive") == "True ValidMetricFound");
  CHECK(Condition("ScalingLimited") == "False DesiredWithinRange");
  CHECK(NewEvents() ==
        std::vector<std::string>{
            "Normal SuccessfulRescale FederatedHPA: New size: 8; reason: cpu resource utilization "
            "(percentage of request) above target"});
  CHECK(Writes() == std::vector<std::string>{
                        "PATCH /apis/apps/v1/namespaces/ns/deployments/web/scale",
                        "PATCH /apis/autoscaling.karmada.io/v1alpha1/namespaces/ns/federatedhpas/"
                        "web/status"});
}

TEST_CASE_METHOD(Fixture, "a pass that finds everything as it was writes nothing") {
  PutHpa(kCpu50);
  Use(500);
  PassOnce();
  const size_t writes = Writes().size();
  CHECK(writes == 1);
  clock.Advance(absl::Seconds(15));
  PassOnce();
  Restart();
  PassOnce();
  CHECK(Writes().size() == writes);
  CHECK(NewEvents().empty());
  CHECK(
      registry.Expose().find("federatedhpa_process_duration_seconds_count{result=\"success\"} 3") !=
      std::string::npos);
}

TEST_CASE_METHOD(Fixture, "fewer replicas wait for the window, after a restart, too") {
  PutHpa(kCpu50);
  Use(100);
  PassOnce();
  CHECK(Replicas() == 4);
  CHECK(Condition("AbleToScale") == "True ScaleDownStabilized");
  clock.Advance(absl::Minutes(4));
  Restart();
  PassOnce();
  clock.Advance(absl::Minutes(4));
  PassOnce();
  CHECK(Replicas() == 4);
  clock.Advance(absl::Minutes(2));
  PassOnce();
  CHECK(Replicas() == 1);
  CHECK(NewEvents().back() ==
        "Normal SuccessfulRescale FederatedHPA: New size: 1; reason: All metrics below target");
}

TEST_CASE_METHOD(Fixture, "a duplicated template has its pods once for each cluster") {
  PutTemplate(2);
  PutBinding(R"([{"name": "m1", "replicas": 2}, {"name": "m2", "replicas": 2}])");
  PutHpa(kCpu50);
  Use(1000);
  PassOnce();
  CHECK(Replicas() == 4);
}

TEST_CASE_METHOD(Fixture, "outside of its bounds a template is brought back, whatever the load") {
  struct Case {
    std::string bounds;
    int64_t wanted;
    std::string cause;
  };
  const Case c = GENERATE(values<Case>({
      {R"({"maxReplicas": 3})", 3, "Current number of replicas above Spec.MaxReplicas"},
      {R"({"minReplicas": 6})", 6, "Current number of replicas below Spec.MinReplicas"},
  }));
  PutHpa(c.bounds);
  PassOnce();
  CHECK(Replicas() == c.wanted);
  CHECK(metrics->asked == 0);
  CHECK(NewEvents() ==
        std::vector<std::string>{"Normal SuccessfulRescale FederatedHPA: New size: " +
                                 std::to_string(c.wanted) + "; reason: " + c.cause});
}

TEST_CASE_METHOD(Fixture, "without metrics nothing is scaled, and the status says why") {
  PutHpa(kCpu50);
  PassOnce();
  CHECK(Replicas() == 4);
  CHECK(Condition("AbleToScale") == "True SucceededGetScale");
  CHECK(Condition("ScalingActive") == "False FailedGetResourceMetric");
  CHECK(Message("ScalingActive") ==
        "the HPA was unable to compute the replica count: failed to get cpu utilization: unable to "
        "get metrics for resource cpu: no metrics returned from resource metrics API");
  CHECK(Status()["currentReplicas"].AsInt() == 4);
  CHECK(NewEvents() ==
        std::vector<std::string>{
            "Warning FailedGetResourceMetric FederatedHPA: failed to get cpu utilization: unable "
            "to get metrics for resource cpu: no metrics returned from resource metrics API",
            "Warning FailedComputeMetricsReplicas FederatedHPA: invalid metrics (1 invalid out of "
            "1), first error is: failed to get cpu resource metric value: failed to get cpu "
            "utilization: unable to get metrics for resource cpu: no metrics returned from "
            "resource metrics API"});
  // What comes back counts at once.
  Use(1000);
  PassOnce();
  CHECK(Replicas() == 8);
  CHECK(Condition("ScalingActive") == "True ValidMetricFound");
}

TEST_CASE_METHOD(Fixture, "what is wrong with a target is a condition and an event") {
  struct Case {
    std::string what, reason, event, message;
  };
  const Case c = GENERATE(values<Case>({
      {"no target", "FailedGetScaleTargetRef", "FailedGetScaleTargetRef",
       "the HPA controller was unable to get the target reference object: fake: NotFound"},
      {"target fails", "FailedGetScale", "FailedGetScale",
       "the HPA controller was unable to get the target's current scale: fake: InternalError"},
      {"no kind", "FailedGetScaleTargetRef", "FailedGetScaleTargetRef",
       "the HPA controller was unable to get the target reference object: no matches for kind "
       "\"Moon\" in version \"example.io/v1\""},
      {"bad version", "FailedGetScale", "FailedGetScale",
       "the HPA controller was unable to get the target's current scale: unexpected GroupVersion "
       "string: a/b/c"},
      {"no scale", "FailedGetScale", "FailedGetScale",
       "the HPA controller was unable to get the target's current scale: ConfigMap ns/web cannot "
       "be scaled: objects of kind ConfigMap (v1) have no scale subresource"},
      {"no binding", "FailedGetBinding", "FailedGetBindings",
       "the HPA controller was unable to get the binding by scaleTargetRef: target resource has no "
       "label"},
      {"no policy", "FailedGetBinding", "FailedGetBindings",
       "the HPA controller was unable to get the binding by scaleTargetRef: no label of policy "
       "permanent-id found"},
      {"binding of nobody", "FailedGetBinding", "FailedGetBindings",
       "the HPA controller was unable to get the binding by scaleTargetRef: length of binding list "
       "is zero"},
      {"binding elsewhere", "FailedGetBinding", "FailedGetBindings",
       "the HPA controller was unable to get the binding by scaleTargetRef: length of binding list "
       "is zero"},
      {"binding of another", "FailedGetBinding", "FailedGetBindings",
       "the HPA controller was unable to get the binding by scaleTargetRef: no binding matches the "
       "target resource"},
      {"no clusters", "FailedGetTargetClusters", "FailedGetTargetClusters",
       "the HPA controller was unable to get the target clusters from binding: binding has no "
       "schedulable clusters"},
      {"no ready cluster", "FailedGetScale", "FailedGetScale",
       "the HPA controller was unable to get the target's current scale: failed to get replicas in "
       "any of clusters, possibly because all of clusters are not ready"},
      {"bounds", "FailedUpdateScale", "FailedRescale",
       "the HPA controller was unable to update the target scale: spec.minReplicas (11) is greater "
       "than spec.maxReplicas (10)"},
  }));
  CAPTURE(c.what);
  std::string spec = "{}";
  const auto target = [](const std::string& version, const std::string& kind) {
    return R"({"scaleTargetRef": {"apiVersion": ")" + version + R"(", "kind": ")" + kind +
           R"(", "name": "web"}})";
  };
  if (c.what == "no target") server->Erase(kDeployments, key);
  if (c.what == "no kind") spec = target("example.io/v1", "Moon");
  if (c.what == "bad version") spec = target("a/b/c", "Deployment");
  if (c.what == "no scale") {
    spec = target("v1", "ConfigMap");
    server->Put(tests::kConfigMaps, Parse(R"({"apiVersion": "v1", "kind": "ConfigMap",
        "metadata": {"namespace": "ns", "name": "web"}})"));
  }
  if (c.what == "target fails") {
    server->FailNext("GET apps/v1/deployments", 500, "InternalError", 1000);
  }
  if (c.what == "no binding") WithoutBinding({});
  if (c.what == "no policy") WithoutBinding({"app"});
  if (c.what == "binding of nobody") WithoutBinding({api::kClusterPropagationPolicyIdLabel});
  if (c.what == "binding of another" || c.what == "binding elsewhere") {
    const std::string ns = c.what == "binding elsewhere" ? "elsewhere" : "ns";
    kube::Object other = kube::Object::Make(api::ResourceBindings().gvk, {ns, "other"});
    other.SetLabel(api::kPropagationPolicyIdLabel, "x");
    PutCached(api::ResourceBindings(), other);
    WithoutBinding({api::kPropagationPolicyIdLabel, api::kClusterPropagationPolicyIdLabel});
  }
  if (c.what == "no clusters") PutBinding("[]");
  if (c.what == "no ready cluster") {
    PutCluster("m1", false);
    PutCluster("m2", false);
  }
  if (c.what == "bounds") spec = R"({"minReplicas": 11})";
  PutHpa(spec);
  Use(1000);
  PassOnce();
  server->EndFailures();
  CHECK(Replicas() == (c.what == "no target" ? 0 : 4));
  CHECK(Condition("AbleToScale") == "False " + c.reason);
  CHECK(Message("AbleToScale") == c.message);
  CHECK(Status()["desiredReplicas"] == json::Value(0));
  const std::vector<std::string> events = NewEvents();
  REQUIRE(events.size() == 1);
  // The event has what follows the condition's own words.
  REQUIRE(absl::StartsWith(events[0], "Warning " + c.event + " FederatedHPA: "));
  const std::string cause = events[0].substr(events[0].find("FederatedHPA: ") + 14);
  CHECK(absl::EndsWith(c.message, ": " + cause));
  CHECK(metrics->asked == 0);
}

TEST_CASE_METHOD(Fixture, "a target with zero replicas is left alone") {
  PutTemplate(0);
  PutHpa(kCpu50);
  Use(1000);
  PassOnce();
  CHECK(Replicas() == 0);
  CHECK(Condition("ScalingActive") == "False ScalingDisabled");
  CHECK(Message("ScalingActive") ==
        "scaling is disabled since the replica count of the target is zero");
  CHECK(NewEvents().empty());
}

TEST_CASE_METHOD(Fixture, "a cluster that is not ready is left out, and the rest stands for it") {
  PutCluster("m2", false);
  PutHpa(kCpu50);
  Use(1000);
  PassOnce();
  // Two pods that use twice as much as they should are half of the template.
  CHECK(Replicas() == 8);
}

TEST_CASE_METHOD(Fixture, "two FederatedHPAs of the same pods both stop") {
  PutHpa(kCpu50, "a");
  PutHpa(kCpu50, "b");
  Use(1000);
  for (const char* name : {"a", "b"}) {
    PassOnce(name);
    CHECK(Condition("ScalingActive", name) == "False AmbiguousSelector");
  }
  CHECK(Replicas() == 4);
  CHECK(NewEvents()[0] ==
        "Warning AmbiguousSelector FederatedHPA: pods by selector app=web are controlled by "
        "multiple HPAs: [ns/a ns/b]");
  server->Erase(api::FederatedHpas(), {"ns", "b"});
  REQUIRE(tests::Eventually([&] {
    return cluster.Find(api::FederatedHpas(), {"ns", "b"}) == nullptr;
  }));
  REQUIRE(Pass("b")->kind() == kube::Action::Kind::kDone);
  PassOnce("a");
  CHECK(Replicas() == 8);
}

TEST_CASE_METHOD(Fixture, "a target without a selector cannot be measured") {
  kube::Object deployment = DeploymentOf(4);
  deployment.Erase({"spec", "selector"});
  for (const char* name : {"m1", "m2"}) {
    kube::Object there = deployment;
    there.SetLabel(api::kManagedLabel, api::kManagedValue);
    Await(*objects.InformerFor(name, kDeployments.gvk, never),
          member(name).Put(kDeployments, there));
  }
  PutHpa(kCpu50);
  Use(1000);
  PassOnce();
  CHECK(Replicas() == 4);
  CHECK(Condition("ScalingActive") == "False InvalidSelector");
  CHECK(Message("ScalingActive") == "the HPA target's scale is missing a selector");
  CHECK(NewEvents()[0] == "Warning SelectorRequired FederatedHPA: selector is required");
}

TEST_CASE_METHOD(Fixture, "a number that somebody sets meanwhile is not overwritten") {
  PutHpa(kCpu50);
  Use(1000);
  server->FailNext("PATCH", 409, "Conflict", 100);
  CHECK(kube::IsConflict(Pass().status()));
  CHECK(Replicas() == 4);
  CHECK(NewEvents().empty());
  server->EndFailures();
  server->FailNext("PATCH", 409, "Conflict");  // The status of the target has changed.
  PassOnce();
  CHECK(Replicas() == 8);
}

TEST_CASE_METHOD(Fixture, "a refused write is a condition, and tried again after the period") {
  PutHpa(kCpu50);
  Use(1000);
  server->FailNext("PATCH", 403, "Forbidden");
  PassOnce();
  CHECK(Replicas() == 4);
  CHECK(Condition("AbleToScale") == "False FailedUpdateScale");
  CHECK(NewEvents()[0] ==
        "Warning FailedRescale FederatedHPA: New size: 8; reason: cpu resource utilization "
        "(percentage of request) above target; error: fake: Forbidden");
  CHECK(Message("AbleToScale") ==
        "the HPA controller was unable to update the target scale: fake: Forbidden");
  CHECK_FALSE(Status().Has("lastScaleTime"));
  PassOnce();
  CHECK(Replicas() == 8);
}

TEST_CASE_METHOD(Fixture, "the time of a scaling is kept until the status could be written") {
  PutHpa(kCpu50);
  Use(1000);
  const std::string scaled = kube::FormatTime(clock.Now());
  // The first patch, that of the scale, does not fail, and the second one does.
  server->FailNext("PATCH", 0, "");
  server->FailNext("PATCH", 403, "Forbidden");
  CHECK_FALSE(Pass().ok());
  CHECK(Replicas() == 8);
  CHECK(Status().is_null());
  CHECK(NewEvents().back() == "Warning FailedUpdateStatus FederatedHPA: fake: Forbidden");
  clock.Advance(absl::Seconds(15));
  Use(500);
  PassOnce();
  CHECK(Status()["lastScaleTime"].AsString() == scaled);
}

TEST_CASE_METHOD(Fixture, "a behavior limits what a pass changes") {
  PutHpa(R"({"behavior": {"scaleUp": {"policies":
      [{"type": "Pods", "value": 1, "periodSeconds": 60}]}}})");
  Use(5000);
  PassOnce();
  CHECK(Replicas() == 5);
  CHECK(Condition("ScalingLimited") == "True ScaleUpLimit");
  clock.Advance(absl::Seconds(15));
  PassOnce();
  CHECK(Replicas() == 5);
  clock.Advance(absl::Seconds(45));
  PassOnce();
  CHECK(Replicas() == 6);
}

TEST_CASE_METHOD(Fixture, "pods are watched until there is no FederatedHPA for half an hour") {
  const auto pods = [&] { return (*members.Get("m1"))->unfiltered().Find(tests::kPods); };
  PutHpa();
  PassOnce();
  CHECK(pods() != nullptr);
  server->Erase(api::FederatedHpas(), key);
  REQUIRE(tests::Eventually([&] {
    return manager->cluster().informers().Get(api::FederatedHpas())->store().size() == 0;
  }));
  const auto watched = pods();
  clock.Advance(absl::Minutes(1));
  absl::StatusOr<kube::Action> pass = Pass();
  REQUIRE(pass.ok());
  CHECK(pass->delay() == absl::Minutes(29));
  CHECK(pods() == watched);
  // One that comes back meanwhile finds what was watched.
  clock.Advance(absl::Minutes(28));
  PutHpa();
  PassOnce();
  CHECK(pods() == watched);
  server->Erase(api::FederatedHpas(), key);
  REQUIRE(tests::Eventually([&] {
    return manager->cluster().informers().Get(api::FederatedHpas())->store().size() == 0;
  }));
  clock.Advance(absl::Minutes(30));
  pass = Pass();
  REQUIRE(pass.ok());
  CHECK(pods() == nullptr);
  // After a restart nothing is kept: nothing has been listed.
  Restart();
  CHECK(Pass().ok());
  CHECK(pods() == nullptr);
}

TEST_CASE_METHOD(Fixture, "a resync makes no pass, except for the rounds of a shadow") {
  flags.shadow = GENERATE(false, true);
  REQUIRE(controllers::RegisterFederatedHpa(Context(), 1).ok());
  Start();
  server->Put(api::FederatedHpas(), HpaOf(R"({"minReplicas": 5})"));
  REQUIRE(tests::Eventually([&] { return Condition("AbleToScale") == "True SucceededRescale"; }));
  const std::string name = api::kFederatedHpaController;
  const auto adds = [&] {
    return registry.GetCounter("workqueue_adds_total", "", {{"name", name}, {"controller", name}})
        .Value();
  };
  REQUIRE(adds() == 1);
  cluster.informers().Resync();
  CHECK(tests::Eventually([&] { return adds() == (flags.shadow ? 2 : 1); }));
}

TEST_CASE_METHOD(Fixture, "the registered loop looks at a FederatedHPA when it comes, and again") {
  member("m1").Put(tests::kConfigMaps, Parse(R"({"metadata": {"name": "x", "namespace": "ns"}})"));
  REQUIRE(controllers::RegisterFederatedHpa(Context(), 1).ok());
  Start();
  server->Put(api::FederatedHpas(), HpaOf(R"({"minReplicas": 5})"));
  CHECK(tests::Eventually([&] { return Replicas() == 5; }));
  // The API has no metrics, which the next pass, after the period, finds out.
  CHECK(tests::Eventually([&] {
    clock.Advance(absl::Seconds(1));
    return Condition("ScalingActive") == "False FailedGetResourceMetric";
  }));
}

}  // namespace
