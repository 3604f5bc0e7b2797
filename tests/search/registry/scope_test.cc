// What the caches have to hold, from registries and Clusters.
#include "search/registry/scope.h"

#include <atomic>
#include <catch2/catch.hpp>
#include <string>
#include <thread>
#include <vector>

#include "absl/strings/str_join.h"
#include "tests/support/eventually.h"
#include "tests/support/fake_clock.h"

namespace search {
namespace {

const kube::Resource kPods{{"", "v1", "Pod"}, "pods", true};
const kube::Resource kNodes{{"", "v1", "Node"}, "nodes", false};
const kube::Resource kWidgets{{"example.io", "v1", "Widget"}, "widgets", true};

kube::ObjectPtr Parsed(const std::string& text) {
  return kube::Share(kube::Object(*json::Parse(text)));
}

kube::ObjectPtr RegistryOf(const std::string& name, const std::string& spec) {
  return Parsed(R"({"metadata":{"name":")" + name + R"("},"spec":)" + spec + "}");
}

struct ClusterParts {
  std::string ready = "True";
  std::string complete = "False";
  std::string kinds;  // `{"name":"pods","kind":"Pod"}` and so on, of v1.
  std::string labels = "{}";
  std::string heartbeat = "1";
};

kube::ObjectPtr ClusterOf(const std::string& name, const ClusterParts& parts = {}) {
  return Parsed(absl::StrCat(R"({"metadata":{"name":")", name, R"(","labels":)", parts.labels,
                             R"(},"spec":{},"status":{"conditions":[{"type":"Ready","status":")",
                             parts.ready, R"(","lastTransitionTime":")", parts.heartbeat,
                             R"("},{"type":"CompleteAPIEnablements","status":")", parts.complete,
                             R"("}],"apiEnablements":[{"groupVersion":"v1","resources":[)",
                             parts.kinds, "]}]}}"));
}

// "m1: pods[a,b]<r1,r2> nodes<r1>; ..."
std::string Shown(const Scope& scope) {
  std::vector<std::string> clusters;
  for (const auto& [name, cluster] : scope.clusters) {
    std::string text = absl::StrCat(name, cluster->ready ? ":" : "(not ready):");
    for (const auto& [gvr, wanted] : cluster->resources) {
      absl::StrAppend(&text, " ", gvr.resource);
      if (!wanted.namespaces.empty()) {
        absl::StrAppend(&text, "[", absl::StrJoin(wanted.namespaces, ","), "]");
      }
      absl::StrAppend(&text, "<", absl::StrJoin(wanted.registries, ","), ">");
    }
    clusters.push_back(text);
  }
  return absl::StrJoin(clusters, "; ");
}

class RunningScope {
 public:
  RunningScope()
      : scope([this](const kube::Gvk& gvk, const base::StopToken&) { return Resolve(gvk); },
              clock) {
    scope.Subscribe([this](const ScopePtr&, const ScopePtr&) {
      if (changes == 0) known_before_first_change = scope.HasSynced();
      ++changes;
    });
    thread_ = std::thread([this] { scope.Run(stop_.get_token()); });
  }
  ~RunningScope() {
    stop_.request_stop();
    thread_.join();
  }

  bool Await(const std::string& wanted) {
    const bool reached = tests::Eventually([&] { return Shown(*scope.Current()) == wanted; });
    CHECK(Shown(*scope.Current()) == wanted);
    return reached;
  }

  // Waits until the scope's thread has nothing to do, moves time, and waits until it has looked.
  void Look(absl::Duration d) {
    clock.AwaitWaiters(1);
    const int before = resolved;
    clock.Advance(d);
    REQUIRE(tests::Eventually([&] { return resolved > before; }));
    clock.AwaitWaiters(1);
  }
  // Lets the seconds pass in which a denied kind is waited for.
  bool AwaitFirst() {
    return tests::Eventually([&] {
      clock.Advance(absl::Seconds(1));
      return scope.HasSynced();
    });
  }

  tests::FakeClock clock;
  std::atomic<bool> has_widgets = false;
  std::atomic<bool> plural_changed = false;
  std::atomic<int> failing = 0;  // Discovery fails: 1 for widgets, 2 for everything.
  std::atomic<int> resolved = 0;
  std::atomic<int> changes = 0;
  std::atomic<bool> known_before_first_change = false;
  CacheScope scope;

 private:
  absl::StatusOr<kube::Resource> Resolve(const kube::Gvk& gvk) {
    ++resolved;
    if (failing == 2 || (failing == 1 && gvk == kWidgets.gvk)) {
      return absl::UnavailableError("discovery failed");
    }
    for (const kube::Resource& resource : {kPods, kNodes}) {
      if (resource.gvk == gvk) return resource;
    }
    if (gvk == kWidgets.gvk && plural_changed) return kube::Resource{gvk, "gadgets", true};
    if (gvk == kWidgets.gvk && has_widgets) return kWidgets;
    return absl::NotFoundError(absl::StrCat("no matches for kind \"", gvk.kind, "\""));
  }

  base::StopSource stop_;
  std::thread thread_;
};

constexpr char kPodsOfAll[] =
    R"({"targetCluster":{},"resourceSelectors":[{"apiVersion":"v1","kind":"Pod"}]})";

constexpr char kPodsAndWidgets[] =
    R"({"targetCluster":{},"resourceSelectors":[{"apiVersion":"v1","kind":"Pod"},)"
    R"({"apiVersion":"example.io/v1","kind":"Widget"}]})";

TEST_CASE("nothing is in the scope before all inputs are known") {
  RunningScope running;
  running.scope.SetRegistry(RegistryOf("r", kPodsOfAll));
  running.scope.SetCluster(ClusterOf("m1"));
  running.clock.AwaitWaiters(1);
  running.clock.AdvanceAndAwait(absl::Minutes(2));
  CHECK(running.scope.Current()->clusters.empty());
  CHECK_FALSE(running.scope.HasSynced());
  running.scope.SetSynced();
  CHECK(running.Await("m1: pods<r>"));
  CHECK(tests::Eventually([&] { return running.scope.HasSynced(); }));
  // Whoever routes by the scope finds the caches that the listeners begin.
  CHECK_FALSE(running.known_before_first_change);
}

TEST_CASE("the first scope waits for discovery, and not for ever for one group") {
  RunningScope running;
  running.failing = 2;
  running.scope.SetCluster(ClusterOf("m1"));
  running.scope.SetRegistry(RegistryOf("r", kPodsAndWidgets));
  running.scope.SetSynced();
  REQUIRE(tests::Eventually([&] { return running.resolved >= 2; }));
  running.clock.AwaitWaiters(1);
  running.clock.AdvanceAndAwait(absl::Minutes(2));
  CHECK_FALSE(running.scope.HasSynced());
  CHECK(running.changes == 0);
  std::string wanted = "m1: pods<r>";
  SECTION("one group goes on failing") { running.failing = 1; }
  SECTION("discovery works again") {
    running.has_widgets = true;
    running.failing = 0;
    wanted = "m1: pods<r> widgets<r>";
  }
  CHECK(tests::Eventually([&] {
    running.clock.Advance(absl::Seconds(1));
    return running.scope.HasSynced();
  }));
  CHECK(running.Await(wanted));
  CHECK(running.changes == 1);
}

TEST_CASE("namespaces of several selectors and registries are united, per cluster") {
  RunningScope running;
  running.scope.SetCluster(ClusterOf("m1"));
  running.scope.SetCluster(ClusterOf("m2"));
  running.scope.SetRegistry(
      RegistryOf("a", R"({"targetCluster":{},"resourceSelectors":[)"
                      R"({"apiVersion":"v1","kind":"Pod","namespace":"x"},)"
                      R"({"apiVersion":"v1","kind":"Pod","namespace":"y"},)"
                      R"({"apiVersion":"v1","kind":"Node","namespace":"ignored"}]})"));
  running.scope.SetRegistry(
      RegistryOf("b", R"({"targetCluster":{"clusterNames":["m2"]},"resourceSelectors":[)"
                      R"({"apiVersion":"v1","kind":"Pod","namespace":"z"}]})"));
  running.scope.SetSynced();
  // The second registry widens the namespaces of its own cluster only (upstream: of all).
  CHECK(running.Await("m1: nodes<a> pods[x,y]<a>; m2: nodes<a> pods[x,y,z]<a,b>"));
  const ScopePtr scope = running.scope.Current();
  CHECK(scope->Find("m1", kPods.gvr())->Covers("x"));
  CHECK_FALSE(scope->Find("m1", kPods.gvr())->Covers("z"));
  CHECK(scope->Find("m1", kWidgets.gvr()) == nullptr);
  CHECK(scope->registered.size() == 2);

  // What each of them asks for is kept, too.
  using Narrowed = std::map<std::string, std::set<std::string>>;
  CHECK(scope->Find("m2", kPods.gvr())->narrowed == Narrowed{{"a", {"x", "y"}}, {"b", {"z"}}});

  running.scope.SetRegistry(RegistryOf("b", kPodsOfAll));
  CHECK(running.Await("m1: nodes<a> pods<a,b>; m2: nodes<a> pods<a,b>"));
  CHECK(running.scope.Current()->Find("m2", kPods.gvr())->narrowed == Narrowed{{"a", {"x", "y"}}});
  running.scope.RemoveRegistry("b");
  CHECK(running.Await("m1: nodes<a> pods[x,y]<a>; m2: nodes<a> pods[x,y]<a>"));
}

TEST_CASE("readiness, labels and enablements of a Cluster count; its heartbeats do not") {
  RunningScope running;
  running.scope.SetRegistry(
      RegistryOf("r", R"({"targetCluster":{"labelSelector":{"matchLabels":{"a":"b"}}},)"
                      R"("resourceSelectors":[{"apiVersion":"v1","kind":"Pod"}]})"));
  running.scope.SetCluster(ClusterOf("m1", {.labels = R"({"a":"b"})"}));
  running.scope.SetCluster(ClusterOf("m2"));
  running.scope.SetSynced();
  REQUIRE(running.Await("m1: pods<r>"));
  running.scope.SetCluster(ClusterOf("m2", {.labels = R"({"a":"b"})"}));
  REQUIRE(running.Await("m1: pods<r>; m2: pods<r>"));
  const auto untouched = running.scope.Current()->clusters.at("m1");
  running.scope.SetCluster(ClusterOf("m2", {.ready = "False", .labels = R"({"a":"b"})"}));
  REQUIRE(running.Await("m1: pods<r>; m2(not ready): pods<r>"));
  CHECK(running.scope.Current()->clusters.at("m1") == untouched);

  // What is not listed counts as absent only if the list is complete.
  running.scope.SetCluster(ClusterOf("m2", {.complete = "True", .labels = R"({"a":"b"})"}));
  REQUIRE(running.Await("m1: pods<r>; m2:"));
  CHECK(running.scope.Current()->clusters.at("m2")->unserved.at("r") == std::set{kPods.gvk});
  running.scope.SetCluster(ClusterOf(
      "m2",
      {.complete = "True", .kinds = R"({"name":"pods","kind":"Pod"})", .labels = R"({"a":"b"})"}));
  REQUIRE(running.Await("m1: pods<r>; m2: pods<r>"));

  const int changes = running.changes, resolved = running.resolved;
  const int64_t waits = running.clock.waits();
  running.scope.SetCluster(ClusterOf("m1", {.labels = R"({"a":"b"})", .heartbeat = "2"}));
  // Something that does count comes after it, so that there is something to wait for.
  running.scope.RemoveCluster("m2");
  REQUIRE(running.Await("m1: pods<r>"));
  CHECK(running.changes == changes + 1);
  CHECK(running.resolved - resolved <= 2);
  CHECK(running.clock.waits() - waits <= 2);
}

TEST_CASE("a Cluster that is being deleted leaves the scope") {
  RunningScope running;
  running.scope.SetRegistry(RegistryOf("r", kPodsOfAll));
  running.scope.SetCluster(ClusterOf("m1"));
  running.scope.SetSynced();
  REQUIRE(running.Await("m1: pods<r>"));
  kube::Object deleted = *ClusterOf("m1");
  deleted.Set({"metadata", "deletionTimestamp"}, "2026-01-01T00:00:00Z");
  running.scope.SetCluster(kube::Share(deleted));
  CHECK(running.Await(""));
  CHECK(running.scope.Current()->matches.at("r").empty());
}

TEST_CASE("the scope has the clusters that registries name and that do not exist") {
  RunningScope running;
  running.scope.SetRegistry(
      RegistryOf("r", R"({"targetCluster":{"clusterNames":["m1","m2"]},"resourceSelectors":[)"
                      R"({"apiVersion":"v1","kind":"Pod"}]})"));
  running.scope.SetRegistry(RegistryOf("all", kPodsOfAll));
  running.scope.SetCluster(ClusterOf("m1"));
  running.scope.SetSynced();
  REQUIRE(running.Await("m1: pods<all,r>"));
  using Absent = std::map<std::string, std::set<std::string>>;
  CHECK(running.scope.Current()->absent == Absent{{"r", {"m2"}}});
  running.scope.SetCluster(ClusterOf("m2"));
  REQUIRE(running.Await("m1: pods<all,r>; m2: pods<all,r>"));
  CHECK(running.scope.Current()->absent.empty());
  running.scope.RemoveCluster("m1");
  REQUIRE(running.Await("m2: pods<all,r>"));
  CHECK(running.scope.Current()->absent == Absent{{"r", {"m1"}}});
}

TEST_CASE("the scope says which registries can select nothing, and why") {
  RunningScope running;
  const auto pods_of = [](const std::string& target) {
    return R"({"targetCluster":)" + target +
           R"(,"resourceSelectors":[{"apiVersion":"v1","kind":"Pod"}]})";
  };
  running.scope.SetRegistry(RegistryOf("all", kPodsOfAll));
  running.scope.SetRegistry(RegistryOf("empty", R"({"targetCluster":{},"resourceSelectors":[]})"));
  running.scope.SetRegistry(
      RegistryOf("labels", pods_of(R"({"labelSelector":{"matchExpressions":[)"
                                   R"({"key":"a","operator":"Inn","values":["x"]}]}})")));
  running.scope.SetRegistry(
      RegistryOf("fields", pods_of(R"({"fieldSelector":{"matchExpressions":[)"
                                   R"({"key":"region","operator":"In","values":[]}]}})")));
  running.scope.SetCluster(ClusterOf("m1"));
  running.scope.SetSynced();
  REQUIRE(running.Await("m1: pods<all>"));
  const ScopePtr scope = running.scope.Current();
  CHECK(scope->without_selectors == std::set<std::string>{"empty"});
  REQUIRE(scope->malformed.size() == 2);
  CHECK(scope->malformed.at("labels") ==
        "invalid labelSelector: \"Inn\" is not a valid label selector operator");
  CHECK_THAT(scope->malformed.at("fields"),
             Catch::StartsWith("invalid fieldSelector: ") && Catch::Contains("region"));
}

TEST_CASE("a kind that the control plane does not serve yet is asked for again") {
  RunningScope running;
  running.scope.SetRegistry(RegistryOf(
      "r", R"({"targetCluster":{},"resourceSelectors":[{"apiVersion":"example.io/v1","kind":)"
           R"("Widget"},{"apiVersion":"v1","kind":"Pod"},{"apiVersion":"a/b/c","kind":"X"}]})"));
  running.scope.SetCluster(ClusterOf("m1"));
  running.scope.SetSynced();
  REQUIRE(running.AwaitFirst());
  REQUIRE(running.Await("m1: pods<r>"));
  const auto unresolved = running.scope.Current()->unresolved.at("r");
  CHECK(unresolved.at(kWidgets.gvk) == "no matches for kind \"Widget\"");
  CHECK(unresolved.size() == 2);
  running.has_widgets = true;
  running.clock.AwaitWaiters(1);
  running.clock.Advance(absl::Minutes(1));
  CHECK(running.Await("m1: pods<r> widgets<r>"));
}

TEST_CASE("a kind leaves the scope when discovery has denied it for a while, and not before") {
  RunningScope running;
  running.has_widgets = true;
  running.scope.SetRegistry(RegistryOf("r", kPodsAndWidgets));
  running.scope.SetCluster(ClusterOf("m1"));
  running.scope.SetSynced();
  REQUIRE(running.Await("m1: pods<r> widgets<r>"));
  running.has_widgets = false;
  running.Look(absl::Minutes(1));
  for (int i = 0; i < 5; ++i) {
    running.Look(absl::Seconds(5));
    CHECK(running.changes == 1);
  }
  SECTION("it is served again") {
    running.has_widgets = true;
    running.Look(absl::Seconds(5));
    // What was denied before does not count any more.
    running.has_widgets = false;
    running.Look(absl::Minutes(1));
    running.Look(absl::Seconds(5));
    CHECK(running.changes == 1);
  }
  SECTION("discovery fails") {
    running.failing = 1;
    running.Look(absl::Minutes(10));
    running.failing = 0;
    running.Look(absl::Minutes(1));
    running.Look(absl::Seconds(5));
    CHECK(running.changes == 1);
  }
  SECTION("it is gone") {
    running.Look(absl::Seconds(5));
    CHECK(running.Await("m1: pods<r>"));
  }
}

TEST_CASE("the first scope waits some seconds for a kind that is denied at first") {
  RunningScope running;
  running.scope.SetRegistry(RegistryOf("r", kPodsAndWidgets));
  running.scope.SetCluster(ClusterOf("m1"));
  running.scope.SetSynced();
  running.clock.AwaitWaiters(1);
  running.Look(absl::Seconds(1));
  CHECK(running.changes == 0);
  running.has_widgets = true;
  running.Look(absl::Seconds(1));
  CHECK(running.Await("m1: pods<r> widgets<r>"));
  CHECK(running.changes == 1);
}

TEST_CASE("a definition that was made again under another plural is noticed") {
  RunningScope running;
  running.has_widgets = true;
  running.scope.SetRegistry(RegistryOf("r", kPodsAndWidgets));
  running.scope.SetCluster(ClusterOf("m1"));
  running.scope.SetSynced();
  REQUIRE(running.Await("m1: pods<r> widgets<r>"));
  running.plural_changed = true;
  running.Look(absl::Seconds(31));
  CHECK(running.Await("m1: pods<r> gadgets<r>"));
}

TEST_CASE("the scope has the OpenSearch of each registry that names one") {
  RunningScope running;
  running.scope.SetRegistry(RegistryOf(
      "r", R"({"targetCluster":{},"resourceSelectors":null,"backendStore":{"openSearch":{)"
           R"("addresses":["http://a"],"secretRef":{"namespace":"n","name":"s"}}}})"));
  running.scope.SetSynced();
  REQUIRE(tests::Eventually([&] { return running.scope.HasSynced(); }));
  const api::OpenSearchTarget target = running.scope.Current()->open_search.at("r");
  CHECK(target.addresses == std::vector<std::string>{"http://a"});
  CHECK(target.secret.ToString() == "n/s");
}

}  // namespace
}  // namespace search
