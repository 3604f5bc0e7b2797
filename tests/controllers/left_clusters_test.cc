// What a template needs stays in the clusters that the template has left until it is gone there.
#include "controllers/dependencies/left_clusters.h"
#include "base/byte_budget.h"
#include "controllers/dependencies/register.h"

#include <catch2/catch.hpp>
#include <string>

#include "api/binding.h"
#include "api/binding_scope.h"
#include "api/names.h"
#include "tests/controllers/dependencies_fixture.h"

namespace {

using tests::Json;
using tests::kWebBinding;

// The template "web" with its ConfigMap is in m1, whose Work is there, and is to be moved to m2.
struct Moving : tests::AttachingFixture {
  Moving() {
    for (const char* cluster : {"m1", "m2"}) {
      PutCached(api::Clusters(), kube::Object::Make(api::Clusters().gvk, {"", cluster}));
    }
    REQUIRE(Reconcile().ok());
    PutWork("m1");
  }

  static kube::ObjectKey WorkIn(const std::string& cluster,
                                const kube::ObjectKey& binding = kWebBinding) {
    return {api::ExecutionNamespace(cluster), binding.name};
  }
  void PutWork(const std::string& cluster, const kube::ObjectKey& binding = kWebBinding) {
    kube::Object work = kube::Object::Make(api::Works().gvk, WorkIn(cluster, binding));
    work.SetLabel(api::kResourceBindingIdLabel, "id-of-" + binding.name);
    for (const auto& [name, value] : api::scope::Namespaced::NamingAnnotations(binding)) {
      work.SetAnnotation(name, value);
    }
    PutCached(api::Works(), work);
  }
  void EraseCached(const kube::Resource& resource, const kube::ObjectKey& key) {
    server->Erase(resource, key);
    REQUIRE(tests::Eventually([&] { return cluster.Find(resource, key) == nullptr; }));
  }
  void Move() { SetClusters(kWebBinding.name, R"([{"name": "m2", "replicas": 3}])"); }
  json::Value Required() const { return Config().Get({"spec", "requiredBy"}).At(0)["clusters"]; }
};

const char kBoth[] = R"([{"name": "m2", "replicas": 3}, {"name": "m1"}])";
const char kNew[] = R"([{"name": "m2", "replicas": 3}])";

TEST_CASE_METHOD(Moving, "a dependency goes from the old cluster after the template's Work there") {
  Move();
  REQUIRE(Reconcile().ok());
  CHECK(Required() == Json(kBoth));
  const size_t writes = Writes();
  Renew();  // A restart finds the same.
  REQUIRE(Reconcile().ok());
  CHECK(Writes() == writes);
  EraseCached(api::Works(), WorkIn("m1"));
  REQUIRE(Reconcile().ok());
  CHECK(Required() == Json(kNew));
}

TEST_CASE_METHOD(Moving, "a move that nobody saw is made good in the same way") {
  Move();
  const bool is_there = GENERATE(true, false);
  if (!is_there) EraseCached(api::Works(), WorkIn("m1"));
  Renew();
  REQUIRE(Reconcile().ok());
  CHECK(Required() == Json(is_there ? kBoth : kNew));
}

TEST_CASE_METHOD(Moving, "a dependency stays while its template is evicted gracefully") {
  EraseCached(api::Works(), WorkIn("m1"));
  kube::Object evicted = Now();
  evicted.Set({"spec", "clusters"}, Json(kNew));
  evicted.Set({"spec", "gracefulEvictionTasks"}, Json(R"([{"fromCluster": "m1"}])"));
  SECTION("until the task ends") {
    Put(evicted);
    REQUIRE(Reconcile().ok());
    CHECK(Required() == Json(kBoth));
    evicted = Now();
    evicted.Erase({"spec", "gracefulEvictionTasks"});
    Put(evicted);
  }
  SECTION("but not from a cluster that is purged at once") {
    evicted.Set({"spec", "gracefulEvictionTasks"},
                Json(R"([{"fromCluster": "m1", "purgeMode": "Directly"}])"));
    Put(evicted);
  }
  REQUIRE(Reconcile().ok());
  CHECK(Required() == Json(kNew));
}

TEST_CASE_METHOD(Moving, "nothing stays in a cluster that is gone or is being removed") {
  Move();
  SECTION("gone") { EraseCached(api::Clusters(), {"", "m1"}); }
  SECTION("being removed") {
    kube::Object leaving = server->Find(api::Clusters(), {"", "m1"});
    leaving.Set({"metadata", "deletionTimestamp"}, "2024-01-01T00:00:00Z");
    PutCached(api::Clusters(), leaving);
  }
  REQUIRE(Reconcile().ok());
  CHECK(Required() == Json(kNew));
}

TEST_CASE_METHOD(Moving, "what was let go of before is not brought back") {
  Move();
  kube::Object attached = Config();
  attached.Set({"spec", "requiredBy"}, Json(R"([{"namespace": "ns", "name": "web-deployment",
                                                "clusters": [{"name": "m2", "replicas": 3}]}])"));
  Put(attached);
  const size_t writes = Writes();
  REQUIRE(Reconcile().ok());
  CHECK(Writes() == writes);
}

TEST_CASE_METHOD(Moving, "a dependency stays while its template is being deleted in the cluster") {
  kube::Object m1 = server->Find(api::Clusters(), {"", "m1"});
  m1.Set({"spec", "syncMode"}, GENERATE(as<std::string>(), "Push", "Pull"));
  const bool is_push = m1.spec()["syncMode"].AsString() == "Push";
  PutCached(api::Clusters(), m1);
  bool terminates = true;
  reconciler.emplace(controllers::DependencySearch::Deps{cluster, scripted}, *events,
                     [&](const kube::Object& binding, absl::string_view name) {
                       CHECK(binding.key() == kWebBinding);
                       CHECK(name == "m1");
                       return terminates;
                     });
  Move();
  const auto action = [&] { return reconciler->Reconcile({.key = kWebBinding}, {})->kind(); };
  CHECK(action() == kube::Action::Kind::kDone);  // The end of the Work will wake the binding.
  EraseCached(api::Works(), WorkIn("m1"));
  CHECK(action() == (is_push ? kube::Action::Kind::kAfter : kube::Action::Kind::kDone));
  CHECK(Required() == Json(is_push ? kBoth : kNew));
  terminates = false;
  CHECK(action() == kube::Action::Kind::kDone);
  CHECK(Required() == Json(kNew));
}

TEST_CASE_METHOD(Moving, "whether a template is being deleted is read from the member's cache") {
  tests::FakeApiServer& m1 = member("m1");
  const auto terminating = controllers::TerminatingIn(objects);
  const kube::Object binding = Now();
  kube::Object web = kube::Object::Make(tests::kDeployments.gvk, tests::kWeb);
  web.SetLabel(api::kManagedLabel, api::kManagedValue);
  m1.Put(tests::kDeployments, web);
  REQUIRE(tests::Eventually([&] { return !terminating(binding, "m1"); }));  // It is listed.
  web.Set({"metadata", "deletionTimestamp"}, "2024-01-01T00:00:00Z");
  m1.Put(tests::kDeployments, web);
  REQUIRE(tests::Eventually([&] { return terminating(binding, "m1"); }));
  m1.Erase(tests::kDeployments, tests::kWeb);
  CHECK(tests::Eventually([&] { return !terminating(binding, "m1"); }));
  CHECK_FALSE(terminating(binding, "unknown"));
}

TEST_CASE_METHOD(Moving,
                 "a template for which that cache has no room is looked for at the member") {
  tests::FakeApiServer& m1 = member("m1");
  kube::InformerSet& cache = (*members.Get("m1"))->client().informers();
  cache.SetBudget(std::make_shared<base::ByteBudget>(64 << 10), [] {});
  const auto terminating = controllers::TerminatingIn(objects);
  const kube::Object binding = Now();
  REQUIRE(tests::Eventually([&] { return !terminating(binding, "m1"); }));  // It is listed.
  kube::Object web = kube::Object::Make(tests::kDeployments.gvk, tests::kWeb);
  web.SetLabel(api::kManagedLabel, api::kManagedValue);
  web.SetAnnotation("large", std::string(100 << 10, 'x'));
  web.Set({"metadata", "deletionTimestamp"}, "2024-01-01T00:00:00Z");
  m1.Put(tests::kDeployments, web);
  REQUIRE(tests::Eventually([&] { return cache.Find(tests::kDeployments)->LeavesOut(); }));
  CHECK(cache.Find(tests::kDeployments)->store().size() == 0);
  CHECK(terminating(binding, "m1"));
  m1.Erase(tests::kDeployments, tests::kWeb);
  CHECK_FALSE(terminating(binding, "m1"));
}

const kube::ObjectKey kConfigBinding = {"ns", "config-configmap"};
const char kWebReference[] =
    R"([{"apiVersion": "apps/v1", "kind": "Deployment", "namespace": "ns", "name": "web"}])";
const char kDeepReference[] =
    R"([{"apiVersion": "v1", "kind": "ConfigMap", "namespace": "ns", "name": "deep"}])";

// The ConfigMap has a policy of its own, and needs something, too.
struct MovingTogether : Moving {
  MovingTogether() {
    kube::Object web = kube::Object::Make(tests::kDeployments.gvk, tests::kWeb);
    web.Set({"metadata", "uid"}, "uid-of-web");
    PutCached(tests::kDeployments, web);
    scripted.dependencies_of["web"] = Json(tests::kConfig);
  }
  void ConfigNeeds(const char* references) {
    scripted.dependencies_of["config"] = Json(references);
    kube::Object config = Config();
    config.SetLabel(api::kResourceBindingIdLabel, "id-of-config-configmap");
    config.Set({"spec", "placement"}, json::Value::Object());
    config.Set({"spec", "propagateDeps"}, true);
    config.Set({"spec", "clusters"}, Json(R"([{"name": "m1"}])"));
    Put(config);
    PutWork("m1", kConfigBinding);
    Pass(kConfigBinding);
  }
  void Pass(const kube::ObjectKey& binding) {
    REQUIRE(reconciler->Reconcile({.key = binding}, {}).ok());
  }
  // What the binding loop does, and the pass that the end of the Work brings about. Returns whether
  // the binding is in m1 no more.
  bool Leaves(const kube::ObjectKey& binding) {
    const kube::Object now = Now(binding.name);
    if (api::BindingView(now).ExpectedClusters().contains("m1")) return false;
    if (cluster.Find(api::Works(), WorkIn("m1", binding)) == nullptr) return true;
    EraseCached(api::Works(), WorkIn("m1", binding));
    Pass(binding);
    return true;
  }
  json::Value Clusters(const std::string& attached) const {
    return Now(attached).Get({"spec", "requiredBy"}).At(0)["clusters"];
  }
};

TEST_CASE_METHOD(MovingTogether, "two templates that need each other leave a cluster") {
  ConfigNeeds(kWebReference);
  REQUIRE(Clusters("web-deployment") == Json(R"([{"name": "m1"}])"));
  SetClusters("web-deployment", kNew);
  const bool at_once = GENERATE(true, false);
  if (!at_once) Pass(kWebBinding);
  SetClusters("config-configmap", kNew);
  Pass(kConfigBinding);
  Pass(kWebBinding);
  const bool web_first = Leaves(kWebBinding);
  CHECK(Leaves(kConfigBinding));
  CHECK((web_first || Leaves(kWebBinding)));
  CHECK(Clusters("web-deployment") == Json(kNew));
  CHECK(Clusters("config-configmap") == Json(kNew));
}

TEST_CASE_METHOD(MovingTogether, "a template that needs itself leaves a cluster") {
  scripted.dependencies_of["web"] = Json(kWebReference);
  Pass(kWebBinding);
  REQUIRE(Clusters("web-deployment") == Json(R"([{"name": "m1"}])"));
  Move();
  Pass(kWebBinding);
  CHECK(Leaves(kWebBinding));
  CHECK(Clusters("web-deployment") == Json(kNew));
}

TEST_CASE_METHOD(MovingTogether, "templates that need one another in a row leave one by one") {
  PutConfig("deep");
  ConfigNeeds(kDeepReference);
  SECTION("if all move") {
    SetClusters("config-configmap", kNew);
    Move();
    Pass(kWebBinding);
    Pass(kConfigBinding);
    CHECK_FALSE(Leaves(kConfigBinding));
    CHECK(Clusters("deep-configmap") == Json(kBoth));
    CHECK(Leaves(kWebBinding));
    CHECK(Clusters("deep-configmap") == Json(kBoth));
    CHECK(Leaves(kConfigBinding));
  }
  SECTION("but what is needed by one that stays does not leave") {
    SetClusters("config-configmap", kNew);
    Pass(kConfigBinding);
    CHECK_FALSE(Leaves(kConfigBinding));
  }
  CHECK(Clusters("deep-configmap") == Json(kNew));
}

TEST_CASE_METHOD(MovingTogether,
                 "a binding of another namespace is not one that needs the object") {
  kube::Object foreign = tests::BindingOfWeb("web-deployment", true);
  foreign.Set({"metadata", "namespace"}, "other");
  PutCached(api::ResourceBindings(), foreign);  // It is in m1, and stays there.
  kube::Object web = Now();
  web.Set({"spec", "requiredBy"}, Json(R"([{"namespace": "other", "name": "web-deployment",
                                            "clusters": [{"name": "m1"}]}])"));
  Put(web);
  Move();
  CHECK(controllers::MayStillBeIn(cluster, Now(), "m1"));
  const kube::MapFn into = controllers::ReferrersInto(informers.Get(api::ResourceBindings()));
  std::vector<kube::Request> referrers = into(server->Find(api::Clusters(), {"", "m1"}));
  for (const kube::Request& referrer : referrers) CHECK(referrer.key.ns == "ns");
}

// The loop runs.
struct RunningMove : Moving {
  RunningMove() {
    Move();
    REQUIRE(controllers::RegisterDependencies(ContextWith(scripted), 1).ok());
    Start();
    REQUIRE(tests::Eventually([&] { return Required() == Json(kBoth); }));
  }
  bool IsLetGo() {
    return tests::Eventually([&] { return Required() == Json(kNew); });
  }
};

TEST_CASE_METHOD(RunningMove, "the end of the Work in the old cluster lets the dependency go") {
  server->Erase(api::Works(), WorkIn("m1"));
  CHECK(IsLetGo());
}

TEST_CASE_METHOD(RunningMove, "so does the removal of the old cluster") {
  SECTION("that begins") {
    kube::Object leaving = server->Find(api::Clusters(), {"", "m1"});
    leaving.Set({"metadata", "deletionTimestamp"}, "2024-01-01T00:00:00Z");
    server->Put(api::Clusters(), leaving);
  }
  SECTION("that nobody announced") { server->Erase(api::Clusters(), {"", "m1"}); }
  CHECK(IsLetGo());
}

TEST_CASE_METHOD(RunningMove, "an old cluster that somebody adds by hand is put back") {
  kube::Object attached = Config();
  attached.Set({"spec", "requiredBy"}, Json(R"([{"namespace": "ns", "name": "web-deployment",
      "clusters": [{"name": "m2", "replicas": 3}, {"name": "m1"}, {"name": "m9"}]}])"));
  server->Put(api::ResourceBindings(), attached);
  CHECK(tests::Eventually([&] { return Required() == Json(kBoth); }));
}

}  // namespace
