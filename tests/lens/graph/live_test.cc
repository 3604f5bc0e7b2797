#include "lens/graph/live.h"

#include <algorithm>
#include <catch2/catch.hpp>
#include <memory>
#include <string>

#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "api/resources.h"
#include "base/clock.h"
#include "base/yaml.h"
#include "kube/http/http_transport.h"
#include "lens/graph/render.h"
#include "lens/plan/dry_control_plane.h"

namespace lens::graph {
namespace {

using Catch::Contains;

constexpr char kObjects[] = R"(
apiVersion: cluster.karmada.io/v1alpha1
kind: Cluster
metadata: {name: m1}
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
  placement: {clusterAffinity: {clusterNames: [m1]}}
---
apiVersion: policy.karmada.io/v1alpha1
kind: PropagationPolicy
metadata: {name: idle, namespace: shop}
spec:
  resourceSelectors: [{apiVersion: apps/v1, kind: StatefulSet}]
  placement: {clusterAffinity: {clusterNames: [m1]}}
---
apiVersion: v1
kind: ConfigMap
metadata: {name: settings, namespace: shop}
---
apiVersion: v1
kind: Secret
metadata: {name: keys, namespace: shop}
data: {password: aHVudGVyMg==}
---
apiVersion: v1
kind: ConfigMap
metadata: {name: alone, namespace: shop}
---
apiVersion: apps/v1
kind: Deployment
metadata: {name: web, namespace: shop}
spec:
  replicas: 2
  selector: {matchLabels: {app: web}}
  template:
    metadata: {labels: {app: web}}
    spec:
      containers:
      - name: main
        image: nginx
        envFrom:
        - configMapRef: {name: settings}
        - configMapRef: {name: gone}
        - secretRef: {name: keys}
)";

// What a graph has cost.
struct Cost {
  std::vector<std::string> paths;  // Of the requests.
  size_t bytes = 0;                // Of all answers.
};

// Passes requests on, unless their paths contain a text; those are forbidden. Adds up their cost.
class Censor : public kube::Transport {
 public:
  Censor(std::shared_ptr<kube::Transport> real, std::vector<std::string> forbidden,
         Cost* cost = nullptr)
      : real_(std::move(real)), forbidden_(std::move(forbidden)), cost_(cost) {}

  absl::StatusOr<kube::HttpResponse> Send(const kube::HttpRequest& request,
                                          const base::StopToken& stop) override {
    for (const std::string& part : forbidden_) {
      if (!absl::StrContains(request.path, part)) continue;
      return kube::HttpResponse{
          .code = 403, .body = R"({"kind":"Status","reason":"Forbidden","message":"may not"})"};
    }
    auto response = real_->Send(request, stop);
    if (cost_ != nullptr && response.ok()) {
      cost_->paths.push_back(request.path);
      cost_->bytes += response->body.size();
    }
    return response;
  }
  std::unique_ptr<kube::HttpStream> Open(const kube::HttpRequest& request,
                                         kube::StreamCallbacks callbacks) override {
    return real_->Open(request, std::move(callbacks));
  }

 private:
  const std::shared_ptr<kube::Transport> real_;
  const std::vector<std::string> forbidden_;
  Cost* const cost_;
};

// A control plane that stands for a live one; the graph reaches it over its API.
struct Fixture {
  std::unique_ptr<plan::DryControlPlane> plane = *plan::DryControlPlane::Start({});
  Cost cost;  // Of the last graph.

  Fixture() {
    Apply(kObjects);
    REQUIRE(plane->Settle({}).ok());
  }

  void Apply(const std::string& yaml) {
    const std::vector<json::Value> documents = *yaml::ParseAll(yaml);
    for (const json::Value& document : documents) {
      REQUIRE(plane->Apply(kube::Object(document)).ok());
    }
  }

  Graph Read(const LiveQuestion& question, std::vector<std::string> forbidden = {}) {
    auto transport = kube::NewHttpTransport(*plane->Connection());
    REQUIRE(transport.ok());
    kube::Client client(std::make_shared<Censor>(*transport, std::move(forbidden), &cost),
                        {.name = "live"}, base::RealClock(), nullptr);
    const auto discovery = kube::Discover(client, {});
    REQUIRE(discovery.ok());
    cost = {};
    auto graph = GraphOfLive(client, *discovery, question, {});
    INFO(graph.status());
    REQUIRE(graph.ok());
    return *std::move(graph);
  }
};

std::string Tree(const Graph& graph) { return TreeOf(graph, tool::Colours(false)); }

}  // namespace

TEST_CASE_METHOD(Fixture, "Graph: a live control plane's bindings and Works are shown") {
  const Graph graph = Read({});
  CHECK(graph.unread.empty());
  CHECK(Tree(graph) ==
        "PropagationPolicy shop/web\n"
        "└─ Deployment shop/web  -> m1 (2 replicas, not applied)\n"
        "   ├─ needs ConfigMap shop/gone  does not exist\n"
        "   ├─ needs ConfigMap shop/settings  -> m1 (not applied)\n"
        "   └─ needs Secret shop/keys  -> m1 (not applied)\n"
        "PropagationPolicy shop/idle  claims nothing\n");
  for (const std::string& text : {Tree(graph), DotOf(graph), json::Write(JsonOf(graph))}) {
    CHECK_THAT(text, !Contains("hunter2") && !Contains("aHVudGVyMg"));
  }
}

TEST_CASE_METHOD(Fixture, "Graph: what stays in a suspended cluster is not being removed") {
  Apply(R"(
apiVersion: policy.karmada.io/v1alpha1
kind: PropagationPolicy
metadata: {name: web, namespace: shop}
spec:
  resourceSelectors: [{apiVersion: apps/v1, kind: Deployment}]
  suspension: {dispatchingOnClusters: {clusterNames: [m1]}}
  placement: {clusterAffinity: {clusterNames: [m2]}}
)");
  REQUIRE(plane->Settle({}).ok());
  CHECK_THAT(Tree(Read({})),
             Contains("Deployment shop/web  -> m1 (suspended, not chosen any more), "
                      "m2 (2 replicas, not applied)\n"));
}

TEST_CASE_METHOD(Fixture, "Graph: an object that nothing propagates can be asked about") {
  const kube::Resource maps{{"", "v1", "ConfigMap"}, "configmaps", true};
  CHECK_THAT(Tree(Read({.resource = maps, .key = {"shop", "alone"}})),
             Contains("ConfigMap shop/alone  in no cluster\n"));
}

namespace {

// Returns what is shown of a graph around one object.
std::string PartOf(const Graph& graph, const std::string& name) {
  return Tree(PartAround(graph, [&](const Node& node) { return node.name == name; }));
}

// Many templates that have nothing to do with those of the fixture.
std::string Others() {
  std::string yaml = R"(
apiVersion: policy.karmada.io/v1alpha1
kind: PropagationPolicy
metadata: {name: bulk, namespace: depot}
spec:
  propagateDeps: true
  resourceSelectors: [{apiVersion: apps/v1, kind: Deployment}]
  placement: {clusterAffinity: {clusterNames: [m2]}}
)";
  for (int i = 0; i < 30; ++i) {
    absl::StrAppend(&yaml, "---\napiVersion: v1\nkind: ConfigMap\nmetadata: {name: c", i,
                    ", namespace: depot}\n---\napiVersion: apps/v1\nkind: Deployment\n",
                    "metadata: {name: d", i,
                    ", namespace: depot}\nspec:\n  selector: {matchLabels: {app: d}}\n"
                    "  template:\n    metadata: {labels: {app: d}}\n    spec:\n"
                    "      containers: [{name: d, image: d, envFrom: [{configMapRef: {name: c",
                    i, "}}]}]\n");
  }
  return yaml;
}

}  // namespace

TEST_CASE_METHOD(Fixture,
                 "Graph: the part around one object is that of the whole graph, and costs the same "
                 "on a large control plane") {
  const kube::Resource deployments{{"apps", "v1", "Deployment"}, "deployments", true};
  const kube::Resource maps{{"", "v1", "ConfigMap"}, "configmaps", true};
  const std::vector<std::pair<std::string, LiveQuestion>> questions = {
      {"Deployment shop/web", {.resource = deployments, .key = {"shop", "web"}}},
      {"ConfigMap shop/settings", {.resource = maps, .key = {"shop", "settings"}}},
      {"PropagationPolicy shop/web",
       {.resource = api::PropagationPolicies(), .key = {"shop", "web"}}},
      {"PropagationPolicy shop/idle",
       {.resource = api::PropagationPolicies(), .key = {"shop", "idle"}}}};
  std::vector<Cost> before;
  for (const auto& [name, question] : questions) {
    INFO(name);
    const std::string part = PartOf(Read(question), name);
    before.push_back(cost);
    CHECK_THAT(part, Contains(name));
    CHECK(part == PartOf(Read({}), name));
  }
  Apply(Others());
  REQUIRE(plane->Settle({}).ok());
  REQUIRE_THAT(Tree(Read({})), Contains("needs ConfigMap depot/c29  -> m2"));
  for (size_t i = 0; i < questions.size(); ++i) {
    const auto& [name, question] = questions[i];
    INFO(name);
    const std::string part = PartOf(Read(question), name);
    CHECK(cost.paths == before[i].paths);
    CHECK(cost.bytes < before[i].bytes + 200);  // Versions have more digits.
    CHECK(part == PartOf(Read({}), name));
  }
  // A policy with more templates than single requests are made for is shown whole, too.
  const std::string bulk = "PropagationPolicy depot/bulk";
  const std::string part =
      PartOf(Read({.resource = api::PropagationPolicies(), .key = {"depot", "bulk"}}), bulk);
  CHECK(part == PartOf(Read({}), bulk));
  CHECK_THAT(part, Contains("needs ConfigMap depot/c29  -> m2"));
}

TEST_CASE_METHOD(Fixture, "Graph: what a user may not read is named, and not taken for missing") {
  const Graph secrets = Read({}, {"/secrets/"});
  CHECK_THAT(Tree(secrets), Contains("needs Secret shop/keys  could not be read  -> m1"));
  REQUIRE(secrets.unread.size() == 1);
  CHECK_THAT(secrets.unread[0], Contains("secrets in shop: ") && Contains("may not"));
  CHECK(std::all_of(secrets.edges.begin(), secrets.edges.end(), [&](const Edge& edge) {
    return edge.follows || secrets.nodes[edge.to].standing.presence == Presence::kMissing;
  }));

  const Graph works = Read({}, {"/works"});
  CHECK_THAT(Tree(works), Contains("Deployment shop/web  -> m1 (2 replicas)\n"));
  CHECK_THAT(works.unread[0], Contains("works: "));

  const Graph policies = Read({}, {"propagationpolicies", "/clusters"});
  CHECK_THAT(Tree(policies), Contains("PropagationPolicy shop/web  could not be read\n") &&
                                 Contains("(2 replicas, not applied, cluster could not be read)"));
  CHECK(policies.unread.size() == 3);

  const kube::Resource deployments{{"apps", "v1", "Deployment"}, "deployments", true};
  const Graph bindings = Read({.resource = deployments, .key = {"shop", "web"}}, {"bindings"});
  REQUIRE(bindings.unread.size() == 1);
  CHECK_THAT(bindings.unread[0], Contains("resourcebindings in shop: "));
  CHECK_THAT(Tree(bindings),
             Contains("Deployment shop/web  its binding could not be read\n") &&
                 Contains("ConfigMap shop/settings  its binding could not be read\n"));
}

TEST_CASE_METHOD(Fixture, "Graph: who may read one namespace alone sees its part") {
  const Graph graph = Read({.ns = "shop"}, {"v1alpha1/propagationpolicies",
                                            "v1alpha2/resourcebindings", "clusterpropagation"});
  CHECK_THAT(Tree(graph), Contains("PropagationPolicy shop/web\n") &&
                              Contains("└─ Deployment shop/web  -> m1 (2 replicas, not applied)"));
  REQUIRE(graph.unread.size() == 3);
  CHECK_THAT(graph.unread[1], Contains("propagationpolicies of other namespaces than shop: "));
}

TEST_CASE_METHOD(Fixture,
                 "Graph: who may read no bindings gets an error instead of an empty graph") {
  auto transport = kube::NewHttpTransport(*plane->Connection());
  kube::Client client(std::make_shared<Censor>(*transport, std::vector<std::string>{"bindings"}),
                      {.name = "live"}, base::RealClock(), nullptr);
  const absl::Status status = GraphOfLive(client, *kube::Discover(client, {}), {}, {}).status();
  CHECK(absl::IsPermissionDenied(status));
  CHECK_THAT(std::string(status.message()),
             Contains("bindings could not be read: ") && Contains("may not"));
}

TEST_CASE_METHOD(Fixture, "Graph: a server that is no control plane of Karmada's is reported") {
  auto transport = kube::NewHttpTransport(*plane->Connection());
  kube::Client client(*transport, {.name = "live"}, base::RealClock(), nullptr);
  CHECK_THAT(std::string(GraphOfLive(client, {}, {}, {}).status().message()),
             Contains("it is not a Karmada control plane"));
}

}  // namespace lens::graph
