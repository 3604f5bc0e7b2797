#include "lens/plan/live_reader.h"

#include <catch2/catch.hpp>

#include "api/keys.h"
#include "api/resources.h"
#include "base/clock.h"
#include "base/yaml.h"
#include "kube/http/http_transport.h"
#include "lens/plan/dry_control_plane.h"
#include "lens/plan/plan.h"
#include "sandbox/sim/kinds.h"

namespace lens::plan {
namespace {

constexpr char kScenery[] = R"(
apiVersion: cluster.karmada.io/v1alpha1
kind: Cluster
metadata: {name: m1, labels: {tier: edge}}
---
apiVersion: cluster.karmada.io/v1alpha1
kind: Cluster
metadata: {name: m2}
---
apiVersion: policy.karmada.io/v1alpha1
kind: PropagationPolicy
metadata: {name: web, namespace: shop}
spec:
  propagateDeps: true
  resourceSelectors: [{apiVersion: apps/v1, kind: Deployment}]
  placement:
    replicaScheduling: {replicaSchedulingType: Divided, replicaDivisionPreference: Weighted}
---
apiVersion: v1
kind: ConfigMap
metadata: {name: settings, namespace: shop}
---
apiVersion: v1
kind: ConfigMap
metadata: {name: more, namespace: shop}
)";

std::string Deployment(const std::string& name, int replicas, const std::string& settings) {
  return absl::StrCat(R"(
apiVersion: apps/v1
kind: Deployment
metadata: {name: )",
                      name, R"(, namespace: shop}
spec:
  replicas: )",
                      replicas, R"(
  selector: {matchLabels: {app: web}}
  template:
    metadata: {labels: {app: web}}
    spec:
      containers: [{name: main, image: nginx, envFrom: [{configMapRef: {name: )",
                      settings, "}}]}]\n");
}

// A control plane that stands for a live one; the plan reaches it over its API.
struct Fixture {
  std::unique_ptr<DryControlPlane> live = *DryControlPlane::Start({});
  std::unique_ptr<kube::Client> client;

  Fixture() {
    Apply(kScenery);
    Apply(Deployment("web", 4, "settings"));
    Apply(Deployment("other", 2, "settings"));
    REQUIRE(live->Settle({}).ok());
    auto transport = kube::NewHttpTransport(*live->Connection());
    REQUIRE(transport.ok());
    client = std::make_unique<kube::Client>(*transport, kube::ClientOptions{.name = "live"},
                                            base::RealClock(), nullptr);
  }

  void Apply(const std::string& yaml) {
    const std::vector<json::Value> documents = *yaml::ParseAll(yaml);
    for (const json::Value& document : documents) {
      REQUIRE(live->Apply(kube::Object(document)).ok());
    }
  }

  // Returns "ConfigMap shop/settings m1 change" for each difference, a line each.
  std::string Differences(const std::string& files) {
    LiveReader reader(*client, *kube::Discover(*client, {}));
    PlanRequest request;
    request.objects = *ObjectsOf(*tool::ParseDocuments("f.yaml", files));
    request.live = &reader;
    request.daemon = daemon;
    request.edits = edits;
    const auto plan = MakePlan(request, {});
    INFO(plan.status().ToString());
    REQUIRE(plan.ok());
    findings = plan->findings;
    std::string text;
    for (const TemplateChange& change : plan->templates) {
      for (const ClusterChange& cluster : change.clusters) {
        if (cluster.action == Action::kNone) continue;
        absl::StrAppend(&text, change.id.ToString(), " ", cluster.cluster, " ",
                        NameOf(cluster.action), "\n");
        last_diff = cluster.diff;
      }
    }
    return text;
  }
  // Returns the message of the finding about the object; "" when there is none.
  std::string Found(const std::string& code, const std::string& object) const {
    std::string text;
    for (const Finding& found : findings) {
      if (found.code == code && found.object == object) text += found.message;
    }
    return text;
  }
  void DeletePolicy() {
    REQUIRE(live->Delete(kube::Object::Make(api::PropagationPolicies().gvk, {"shop", "web"})).ok());
    REQUIRE(live->Settle({}).ok());
  }
  std::string last_diff;
  std::vector<Finding> findings;
  config::Options daemon;  // The daemon's flags.
  std::vector<FleetEdit> edits;
};

}  // namespace

TEST_CASE_METHOD(Fixture, "Plan: manifests that are applied already change nothing") {
  CHECK(Differences(Deployment("web", 4, "settings")) == "");
}

TEST_CASE_METHOD(Fixture, "Plan: a changed template is compared with the live Works") {
  CHECK(Differences(Deployment("web", 6, "settings")) ==
        "Deployment shop/web m1 change\nDeployment shop/web m2 change\n");
  CHECK_THAT(last_diff, Catch::Contains("-  replicas: 2\n+  replicas: 3\n"));
}

TEST_CASE_METHOD(Fixture, "Plan: an ordinary edit warns of nothing") {
  std::string edited = Deployment("web", 4, "settings");
  edited.replace(edited.find("image: nginx"), 12, "image: nginx:2");
  CHECK(Differences(edited) == "Deployment shop/web m1 change\nDeployment shop/web m2 change\n");
  CHECK(findings.empty());
}

std::string Policy() {
  const std::string policy = kScenery;
  const size_t at = policy.find("apiVersion: policy");
  return policy.substr(at, policy.find("---", at) - at);
}

TEST_CASE_METHOD(Fixture,
                 "Plan: clusters that are not ready are named, if something changes there") {
  kube::Object silent = *live->backend().Get(api::Clusters().gvr(), {"", "m2"}).value();
  json::Value condition = json::Value::Object({{"type", "Ready"},
                                               {"status", "Unknown"},
                                               {"reason", "ClusterStatusUnknown"},
                                               {"message", "no news"},
                                               {"lastTransitionTime", "2026-01-01T11:00:00Z"}});
  silent.Set({"status", "conditions"}, json::Value::Array({condition}));
  REQUIRE(live->Apply(silent).ok());
  Differences(Deployment("web", 4, "settings"));
  CHECK(Found(finding::kClusterNotReady, "Cluster m2") == "");
  std::string edited = Deployment("web", 4, "settings");
  edited.replace(edited.find("image: nginx"), 12, "image: nginx:2");
  CHECK_THAT(Differences(edited), Catch::Contains("Deployment shop/web m2 change\n"));
  CHECK(
      Found(finding::kClusterNotReady, "Cluster m2") ==
      "it is not ready since 2026-01-01T11:00:00Z (ClusterStatusUnknown: no news); the changes of "
      "1 template reach it when it is ready again");
  CHECK(Found(finding::kClusterNotReady, "Cluster m1") == "");
  SECTION("unless the question is about it") {
    edits = {Cordoned("m2")};
    Differences(edited);
    CHECK(Found(finding::kClusterNotReady, "Cluster m2") == "");
  }
}

constexpr char kEverywhere[] = R"(
apiVersion: policy.karmada.io/v1alpha1
kind: OverridePolicy
metadata: {name: everywhere, namespace: shop}
spec:
  overrideRules:
  - overriders: {imageOverrider: [{component: Registry, operator: add, value: reg.local}]}
)";

TEST_CASE_METHOD(Fixture, "Plan: neither edits nor overrides reach a template without a policy") {
  DeletePolicy();
  for (const std::string& files : {Deployment("web", 8, "settings"), std::string(kEverywhere)}) {
    CHECK(Differences(files) == "");
    CHECK_THAT(Found(finding::kHeldBack, "Deployment shop/web"),
               Catch::Contains("no policy governs it any more"));
    CHECK(Found(finding::kLoopWarning, "Deployment shop/web") == "");
  }
}

TEST_CASE_METHOD(Fixture, "Plan: an edit waits for the override that its policy depends on") {
  std::string policy = Policy();
  policy.replace(policy.find("propagateDeps: true"), 19, "dependentOverrides: [everywhere]");
  Apply(kEverywhere);
  Apply(policy);
  REQUIRE(live->Settle({}).ok());
  REQUIRE(live->Delete(kube::Object(*yaml::Parse(kEverywhere))).ok());
  REQUIRE(live->Settle({}).ok());
  CHECK(Differences(Deployment("web", 8, "settings")) == "");
  CHECK_THAT(Found(finding::kHeldBack, "Deployment shop/web"),
             Catch::Contains("waiting for dependent overrides: shop/everywhere"));
  // The files bring what it waits for.
  CHECK_THAT(Differences(Deployment("web", 8, "settings") + "---" + kEverywhere),
             Catch::Contains("Deployment shop/web m1 change\n"));
  CHECK(Found(finding::kHeldBack, "Deployment shop/web") == "");
}

TEST_CASE_METHOD(Fixture, "Plan: a lazy policy takes a template with its next edit") {
  std::string policy = Policy();
  policy.replace(policy.find("metadata: {name: web,"), 21, "metadata: {name: lazy,");
  policy.replace(policy.find("propagateDeps: true"), 19, "activationPreference: Lazy");
  policy.replace(policy.find("apps/v1, kind: Deployment}"), 26, "v1, kind: ConfigMap, name: more}");
  Apply(policy);
  REQUIRE(live->Settle({}).ok());
  const auto config_map = [](const std::string& value) {
    return absl::StrCat(
        "apiVersion: v1\nkind: ConfigMap\nmetadata: {name: more, namespace: shop}\n",
        "data: {a: \"", value, "\"}\n");
  };
  CHECK(Differences("apiVersion: v1\nkind: ConfigMap\nmetadata: {name: more, namespace: shop}\n") ==
        "");
  CHECK_THAT(Found(finding::kHeldBack, "ConfigMap shop/more"), Catch::Contains("is lazy"));
  CHECK(Differences(config_map("1")) ==
        "ConfigMap shop/more m1 create\nConfigMap shop/more m2 create\n");
  CHECK(Found(finding::kHeldBack, "ConfigMap shop/more") == "");
}

TEST_CASE_METHOD(Fixture, "Plan: a policy in the files takes a template that had none") {
  DeletePolicy();
  CHECK_THAT(Differences(Deployment("web", 8, "settings") + "---\n" + Policy()),
             Catch::Contains("Deployment shop/web m1 change\n"));
  CHECK(findings.empty());
}

TEST_CASE_METHOD(Fixture, "Plan: the simulated server's own definitions are no templates") {
  Apply(R"(
apiVersion: policy.karmada.io/v1alpha1
kind: ClusterPropagationPolicy
metadata: {name: multicluster-services-api}
spec:
  resourceSelectors:
  - apiVersion: apiextensions.k8s.io/v1
    kind: CustomResourceDefinition
    name: serviceexports.multicluster.x-k8s.io
  placement: {clusterAffinity: {}}
)");
  REQUIRE(live->Settle({}).ok());
  CHECK(Differences(Deployment("web", 4, "settings")) == "");

  kube::Object definition = **live->backend().Get(sandbox::kinds::Definitions().gvr(),
                                                  {"", "serviceexports.multicluster.x-k8s.io"});
  CHECK(Differences(yaml::Write(definition.root())) == "");
  definition.SetLabel("tier", "api");
  constexpr char kName[] = "CustomResourceDefinition serviceexports.multicluster.x-k8s.io ";
  CHECK(Differences(yaml::Write(definition.root())) ==
        absl::StrCat(kName, "m1 change\n", kName, "m2 change\n"));
  CHECK_THAT(last_diff, Catch::Contains("+    tier: api\n"));
}

TEST_CASE_METHOD(Fixture, "Plan: what kubectl has applied goes when the file has it no more") {
  const auto config_map = [](const std::string& rest) {
    return absl::StrCat("apiVersion: v1\nkind: ConfigMap\nmetadata:\n", rest);
  };
  Apply(config_map(R"(  name: settings
  namespace: shop
  labels: {applied: "1", of-others: "2"}
  annotations:
    of-others: "3"
    kubectl.kubernetes.io/last-applied-configuration: >
      {"apiVersion": "v1", "kind": "ConfigMap", "data": {"gone": "x"}, "metadata": {"annotations":
      {}, "labels": {"applied": "1"}, "name": "settings", "namespace": "shop"}}
data: {gone: x, stays: z}
)"));
  REQUIRE(live->Settle({}).ok());
  CHECK(Differences(config_map("  name: settings\n  namespace: shop\ndata: {new: x}\n")) ==
        "ConfigMap shop/settings m1 change\nConfigMap shop/settings m2 change\n");
  CHECK_THAT(last_diff, Catch::Contains("-    applied: \"1\"\n") &&
                            Catch::Contains("-  gone: x\n+  new: x\n   stays: z\n") &&
                            !Catch::Contains("-    of-others"));
}

TEST_CASE_METHOD(Fixture, "Plan: a container that somebody else has added is no difference") {
  std::string with_proxy = Deployment("web", 4, "settings");
  with_proxy.insert(with_proxy.find("{name: main"), "{name: proxy, image: envoy}, ");
  Apply(with_proxy);
  REQUIRE(live->Settle({}).ok());
  CHECK(Differences(Deployment("web", 4, "settings")) == "");
  CHECK(Differences(Deployment("web", 4, "more")) ==
        "ConfigMap shop/more m1 create\nConfigMap shop/more m2 create\n"
        "Deployment shop/web m1 change\nDeployment shop/web m2 change\n");
  CHECK_THAT(last_diff, !Catch::Contains("envoy"));
}

TEST_CASE_METHOD(Fixture, "Plan: an override on disk changes the live templates that it selects") {
  CHECK(Differences(R"(
apiVersion: policy.karmada.io/v1alpha1
kind: OverridePolicy
metadata: {name: edge, namespace: shop}
spec:
  resourceSelectors: [{apiVersion: apps/v1, kind: Deployment}]
  overrideRules:
  - targetCluster: {labelSelector: {matchLabels: {tier: edge}}}
    overriders:
      imageOverrider: [{component: Registry, operator: add, value: edge.local}]
)") == "Deployment shop/other m1 change\nDeployment shop/web m1 change\n");
}

TEST_CASE_METHOD(Fixture, "Plan: additional targets change the live templates that they cover") {
  constexpr char kWide[] = R"(
apiVersion: config.karmada.io/v1alpha1
kind: ResourceInterpreterCustomization
metadata: {name: wide}
spec:
  target: {apiVersion: example.io/v1, kind: Gadget}
  additionalTargets: [{apiVersion: apps/*, kind: "*"}]
  customizations:
    replicaResource: {luaScript: "function GetReplicas(desiredObj) return 8 end"}
)";
  CHECK(Differences(kWide) == "");
  REQUIRE(daemon.gates.Set("CombinedCustomizations=true").ok());
  const std::string differences = Differences(kWide);
  CHECK_THAT(differences, Catch::Contains("Deployment shop/web m1 ") &&
                              Catch::Contains("Deployment shop/other m1 "));
}

TEST_CASE_METHOD(Fixture, "Plan: a dependency that only the live control plane has follows") {
  CHECK(Differences(Deployment("web", 4, "more")) ==
        "ConfigMap shop/more m1 create\nConfigMap shop/more m2 create\n"
        "Deployment shop/web m1 change\nDeployment shop/web m2 change\n");
}

TEST_CASE_METHOD(Fixture, "Plan: a policy on disk moves the live templates that it has claimed") {
  CHECK(Differences(R"(
apiVersion: policy.karmada.io/v1alpha1
kind: PropagationPolicy
metadata: {name: web, namespace: shop}
spec:
  propagateDeps: true
  resourceSelectors: [{apiVersion: apps/v1, kind: Deployment}]
  placement:
    clusterAffinity: {clusterNames: [m2]}
    replicaScheduling: {replicaSchedulingType: Divided, replicaDivisionPreference: Weighted}
)") == "ConfigMap shop/settings m1 delete\nDeployment shop/other m1 delete\n"
       "Deployment shop/other m2 change\nDeployment shop/web m1 delete\n"
       "Deployment shop/web m2 change\n");
}

TEST_CASE_METHOD(Fixture, "Plan: a live control plane is only read") {
  const auto versions = [&] {
    std::string text;
    for (const kube::Resource& resource : live->backend().Resources()) {
      const auto objects = live->backend().List(resource.gvr(), "", kube::LabelSelector());
      if (!objects.ok()) continue;
      for (const kube::ObjectPtr& object : *objects) {
        absl::StrAppend(&text, object->Describe(), " ", object->resource_version(), "\n");
      }
    }
    return text;
  };
  const std::string before = versions();
  Differences(Deployment("web", 7, "more"));
  CHECK(versions() == before);
}

TEST_CASE_METHOD(
    Fixture, "Plan: a question about the fleet needs no files, and is about all that is there") {
  edits = {Without("m1")};
  const std::string all = Differences("");
  for (const char* line : {"Deployment shop/web m1 delete\n", "Deployment shop/web m2 change\n",
                           "Deployment shop/other m1 delete\n"}) {
    CHECK_THAT(all, Catch::Contains(line));
  }
}

TEST_CASE_METHOD(Fixture,
                 "Plan: what a cluster's label places for the first time takes along its needs") {
  constexpr char kLonely[] = R"(
apiVersion: v1
kind: ConfigMap
metadata: {name: lonely, namespace: apart}
---
apiVersion: policy.karmada.io/v1alpha1
kind: PropagationPolicy
metadata: {name: lonely, namespace: apart}
spec:
  propagateDeps: true
  resourceSelectors: [{apiVersion: apps/v1, kind: Deployment}]
  placement: {clusterAffinity: {labelSelector: {matchLabels: {tier: gold}}}}
---
apiVersion: apps/v1
kind: Deployment
metadata: {name: lonely, namespace: apart}
spec:
  replicas: 1
  selector: {matchLabels: {app: web}}
  template:
    metadata: {labels: {app: web}}
    spec:
      containers: [{name: main, image: nginx, envFrom: [{configMapRef: {name: lonely}}]}]
)";
  Apply(kLonely);
  REQUIRE(live->Settle({}).ok());
  edits = {*ParseLabel("m2:tier=gold")};
  CHECK(Differences("") == "ConfigMap apart/lonely m2 create\nDeployment apart/lonely m2 create\n");
}

// A workload whose placement is made by somebody else than the simulated scheduler.
std::string PlacedByOthers(const std::string& ns, const std::string& spec) {
  return absl::StrCat(
      "apiVersion: policy.karmada.io/v1alpha1\nkind: PropagationPolicy\n",
      "metadata: {name: web, namespace: ", ns, "}\nspec:\n",
      "  resourceSelectors: [{apiVersion: apps/v1, kind: Deployment}]\n", spec,
      "---\napiVersion: apps/v1\nkind: Deployment\n", "metadata: {name: web, namespace: ", ns,
      "}\nspec:\n  replicas: 1\n", "  selector: {matchLabels: {app: web}}\n",
      "  template: {metadata: {labels: {app: web}}, spec: {containers: [{name: main, "
      "image: nginx}]}}\n");
}

TEST_CASE_METHOD(Fixture,
                 "What if: live workloads that nothing places again, or not as simulated") {
  Apply(
      "apiVersion: cluster.karmada.io/v1alpha1\nkind: Cluster\n"
      "metadata: {name: m1, labels: {tier: edge}}\nspec: {region: north}\n---\n"
      "apiVersion: cluster.karmada.io/v1alpha1\nkind: Cluster\n"
      "metadata: {name: m2}\nspec: {region: south}\n");
  Apply(PlacedByOthers("far", "  schedulerName: my-scheduler\n"));
  Apply(PlacedByOthers("north",
                       "  placement: {spreadConstraints: [{spreadByField: region, minGroups: 1, "
                       "maxGroups: 1}, {spreadByField: cluster, minGroups: 1, maxGroups: 1}]}\n"));
  REQUIRE(live->Settle({}).ok());
  const auto edit = [&](const std::string& ns, auto change) {
    const kube::Gvr bindings = api::ResourceBindings().gvr();
    kube::Object binding = *live->backend().Get(bindings, {ns, "web-deployment"}).value();
    change(binding);
    REQUIRE(live->Apply(binding).ok());
  };
  const auto place = [](kube::Object& binding) {
    binding.Set({"spec", "clusters"},
                json::Value::Array({json::Value::Object({{"name", "m1"}, {"replicas", 1}})}));
    // By what the scheduler records there the daemon knows what is tolerated.
    binding.SetAnnotation(api::kAppliedPlacementAnnotation,
                          json::Write(binding.spec()["placement"]));
  };
  edit("far", place);
  edit("north", place);
  edit("shop", [](kube::Object& b) { b.Set({"spec", "suspension", "scheduling"}, true); });
  REQUIRE(live->Settle({}).ok());
  REQUIRE(daemon.gates.Set("Failover=true").ok());
  daemon.taint_eviction.no_execute = true;
  edits = {Drained("m1"), Drained("m2")};
  Differences("");
  CHECK_THAT(Found(finding::kNowhere, "Deployment shop/web"),
             Catch::Contains("its scheduling is suspended"));
  CHECK_THAT(Found(finding::kPinned, "Deployment shop/other"),
             Catch::Contains("no other cluster may have it"));
  CHECK_THAT(Found(finding::kNotSimulated, "Deployment far/web"),
             Catch::Contains("its scheduler my-scheduler is not simulated"));
  edits = {Drained("m1")};
  Differences("");
  CHECK_THAT(Found(finding::kNotSimulated, "Deployment north/web"), Catch::Contains("by region"));
  CHECK(Found(finding::kPinned, "Deployment north/web") == "");
}

}  // namespace lens::plan
