// A control plane that stands for a live one, with two clusters and two Deployments, and plans of
// it.
#ifndef TESTS_LENS_PLAN_LIVE_PLANE_H_
#define TESTS_LENS_PLAN_LIVE_PLANE_H_

#include <catch2/catch.hpp>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "absl/strings/str_cat.h"
#include "api/resources.h"
#include "base/clock.h"
#include "base/yaml.h"
#include "kube/http/http_transport.h"
#include "lens/plan/dry_control_plane.h"
#include "lens/plan/live_reader.h"
#include "lens/plan/plan.h"

namespace lens::plan {

inline constexpr char kLiveScenery[] = R"(
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

inline std::string Deployment(const std::string& name, int replicas, const std::string& settings) {
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
struct LivePlane {
  std::unique_ptr<DryControlPlane> live = *DryControlPlane::Start({});
  std::unique_ptr<kube::Client> client;

  LivePlane() {
    Apply(kLiveScenery);
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
    what_if = plan->what_if;
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
  std::optional<WhatIf> what_if;  // Of the last plan.
  config::Options daemon;         // The daemon's flags.
  std::vector<FleetEdit> edits;
};

}  // namespace lens::plan

#endif  // TESTS_LENS_PLAN_LIVE_PLANE_H_
