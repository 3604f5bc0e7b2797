// Override policies in the registered binding loop: what it writes, and what wakes it.
#include <algorithm>
#include <catch2/catch.hpp>
#include <string>
#include <vector>

#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "api/binding_scope.h"
#include "api/keys.h"
#include "api/names.h"
#include "binding/binding_reconciler.h"
#include "binding/register.h"
#include "tests/support/loops_fixture.h"

namespace {

using Scope = api::scope::Namespaced;

// Two ConfigMaps in each of two clusters.
struct Fixture : tests::LoopsFixture {
  Fixture() {
    Make();
    REQUIRE(binding::RegisterBinding<Scope>(Context(), 1).ok());
    Sync({api::Works(), api::ResourceBindings(), api::Clusters(), api::OverridePolicies(),
          api::ClusterOverridePolicies()});
    for (const char* name : {"m1", "m2"}) PutCluster(name, "test");
    for (const char* name : {"app", "other"}) {
      kube::Object object = kube::Object::Make(tests::kConfigMaps.gvk, {"ns", name});
      object.Set({"data", "k"}, "plain");
      server->Put(tests::kConfigMaps, object);
      PutCached(api::ResourceBindings(), BindingOf(name));
    }
    Start();
    REQUIRE(tests::Eventually([&] { return server->All(api::Works()).size() == 4; }));
  }
  static kube::Object BindingOf(const std::string& name) {
    kube::Object binding = tests::Parse(R"({
        "apiVersion": "work.karmada.io/v1alpha2", "kind": "ResourceBinding",
        "metadata": {"namespace": "ns", "generation": 1},
        "spec": {"resource": {"apiVersion": "v1", "kind": "ConfigMap", "namespace": "ns"},
                 "clusters": [{"name": "m1"}, {"name": "m2"}]}})");
    binding.Set({"metadata", "name"}, absl::StrCat(name, "-configmap"));
    binding.SetLabel(Scope::kIdLabel, absl::StrCat("id-", name));
    binding.Set({"spec", "resource", "name"}, name);
    return binding;
  }
  void PutCluster(const std::string& name, const std::string& env) {
    kube::Object cluster = kube::Object::Make(api::Clusters().gvk, {"", name});
    cluster.SetLabel("env", env);
    PutCached(api::Clusters(), cluster);
  }
  // Stores a policy that selects the ConfigMap app and adds `value` to it under the name of the
  // policy.
  void PutPolicy(const std::string& value, absl::string_view target, int generation = 1) {
    kube::Object policy = kube::Object::Make(api::OverridePolicies().gvk, {"ns", "o"});
    policy.Set({"metadata", "generation"}, generation);
    json::Value rule = tests::Json(absl::StrCat(
        R"({"overriders": {"plaintext": [{"path": "/data/o", "operator": "add", "value": ")", value,
        R"("}]}})"));
    if (!target.empty()) rule.Set("targetCluster", tests::Json(target));
    policy.Set({"spec", "overrideRules"}, json::Value::Array({rule}));
    policy.Set({"spec", "resourceSelectors"},
               tests::Json(R"([{"apiVersion": "v1", "kind": "ConfigMap", "name": "app"}])"));
    PutCached(api::OverridePolicies(), policy);
  }
  kube::Object WorkOf(const std::string& name, const std::string& cluster) {
    return server->Find(api::Works(),
                        {"karmada-es-" + cluster, api::WorkName("ConfigMap", name, "ns")});
  }
  // Returns what the policy has added to a manifest: "<app in m1> <app in m2>"; "-" for nothing.
  std::string Added() {
    const auto value = [&](const char* cluster) {
      const kube::Object work = WorkOf("app", cluster);
      const json::Value& manifest = work.Get({"spec", "workload", "manifests"}).At(0);
      return manifest["data"]["o"].ToString("-");
    };
    return absl::StrCat(value("m1"), " ", value("m2"));
  }
  bool Becomes(const std::string& added) {
    return tests::Eventually([&] { return Added() == added; });
  }
};

TEST_CASE_METHOD(Fixture, "Works follow an override policy that comes, changes and goes") {
  const std::string other = WorkOf("other", "m1").root()["metadata"]["resourceVersion"].ToString();
  PutPolicy("first", R"({"clusterNames": ["m1"]})");
  CHECK(Becomes("first -"));
  CHECK(WorkOf("app", "m1").Annotation(api::kAppliedOverridesAnnotation) ==
        R"([{"policyName":"o","overriders":{"plaintext":)"
        R"([{"path":"/data/o","operator":"add","value":"first"}]}}])");
  CHECK(WorkOf("app", "m2").Annotation(api::kAppliedOverridesAnnotation).empty());
  PutPolicy("second", "", 2);
  CHECK(Becomes("second second"));
  server->Erase(api::OverridePolicies(), {"ns", "o"});
  CHECK(Becomes("- -"));
  // The record stays, as it does with upstream.
  CHECK(absl::StrContains(WorkOf("app", "m1").Annotation(api::kAppliedOverridesAnnotation),
                          R"("value":"second")"));
  CHECK(WorkOf("other", "m1").root()["metadata"]["resourceVersion"].ToString() == other);
}

TEST_CASE_METHOD(Fixture, "an edit overtakes what a change of an override policy has queued") {
  constexpr int kSelected = 20;
  json::Value selectors = json::Value::Array();
  for (int i = 0; i < kSelected; ++i) {
    kube::Object object = kube::Object::Make(tests::kConfigMaps.gvk, {"ns", absl::StrCat("c", i)});
    server->Put(tests::kConfigMaps, object);
    PutCached(api::ResourceBindings(), BindingOf(absl::StrCat("c", i)));
    selectors.Append(json::Value::Object(
        {{"apiVersion", "v1"}, {"kind", "ConfigMap"}, {"name", object.name()}}));
  }
  REQUIRE(
      tests::Eventually([&] { return server->All(api::Works()).size() == 2 * (kSelected + 2); }));
  // The only worker waits with the first of them, and the edit comes when all are queued.
  server->Block("PATCH");
  kube::Object policy = kube::Object::Make(api::OverridePolicies().gvk, {"ns", "o"});
  policy.Set({"metadata", "generation"}, 1);
  policy.Set({"spec", "overrideRules"}, tests::Json(R"([{"overriders": {"plaintext": [
      {"path": "/data", "operator": "add", "value": {"o": "v"}}]}}])"));
  policy.Set({"spec", "resourceSelectors"}, selectors);
  PutCached(api::OverridePolicies(), policy);
  kube::Object edited = BindingOf("other");
  edited.Set({"metadata", "generation"}, 2);
  edited.Set({"spec", "conflictResolution"}, "Overwrite");
  PutCached(api::ResourceBindings(), edited);
  server->Unblock();
  const auto patches_of = [&](absl::string_view name) {
    const std::vector<std::string> patches = server->Requests("PATCH");
    return std::find_if(patches.begin(), patches.end(),
                        [&](const std::string& line) { return absl::StrContains(line, name); }) -
           patches.begin();
  };
  REQUIRE(server->AwaitRequests("PATCH", 2 * (kSelected + 1)));
  CHECK(patches_of(WorkOf("other", "m2").name()) < kSelected);
}

TEST_CASE_METHOD(Fixture, "an applied override policy is a routine success once per written Work") {
  recorded->WantRoutine();
  PutPolicy("first", R"({"clusterNames": ["m1"]})");
  CHECK(Becomes("first -"));
  PutPolicy("second", "", 2);
  CHECK(Becomes("second second"));
  const auto events = [&] {
    std::vector<std::string> events = recorded->All();
    std::erase_if(events, [](const std::string& event) {
      return !absl::StrContains(event, "ApplyOverridePolicySucceed");
    });
    std::sort(events.begin(), events.end());
    return events;
  };
  const std::string begin =
      "Normal ApplyOverridePolicySucceed ConfigMap: Apply override policy(ns/o) for cluster(";
  const std::vector<std::string> expected = {begin + "m1) succeed.", begin + "m1) succeed.",
                                             begin + "m2) succeed."};
  CHECK(tests::Eventually([&] { return events() == expected; }));
}

TEST_CASE_METHOD(Fixture, "a policy that makes another object of a template reaches no Work") {
  PutCached(api::OverridePolicies(), tests::Parse(R"({
      "apiVersion": "policy.karmada.io/v1alpha1", "kind": "OverridePolicy",
      "metadata": {"name": "o", "namespace": "ns", "generation": 1},
      "spec": {"resourceSelectors": [{"apiVersion": "v1", "kind": "ConfigMap", "name": "app"}],
               "overrideRules": [{"overriders": {"plaintext": [
        {"path": "/apiVersion", "operator": "replace", "value": "rbac.authorization.k8s.io/v1"},
        {"path": "/kind", "operator": "replace", "value": "ClusterRoleBinding"},
        {"path": "/metadata/namespace", "operator": "remove"},
        {"path": "/data", "operator": "remove"},
        {"path": "/roleRef", "operator": "add", "value": {"apiGroup": "rbac.authorization.k8s.io",
            "kind": "ClusterRole", "name": "cluster-admin"}}]}}]}})"));
  // The event names policy, cluster, field and cause, and comes once for all tries.
  const std::string failed =
      "Warning ApplyOverridePolicyFailed ConfigMap: Apply override policy(ns/o) for cluster(m1) "
      "failed. spec.overrideRules[0].overriders: apiVersion is changed from \"v1\" to "
      "\"rbac.authorization.k8s.io/v1\": group, kind, namespace and name of a template must stay";
  const auto events = [&] {
    const std::vector<std::string> all = recorded->All();
    return std::count(all.begin(), all.end(), failed);
  };
  CHECK(tests::Eventually([&] { return events() > 0; }));
  CHECK(Added() == "- -");
  for (const kube::Object& work : server->All(api::Works())) {
    INFO(json::Write(work.root()));
    CHECK(work.Get({"spec", "workload", "manifests"}).At(0)["kind"].AsString() == "ConfigMap");
  }
  CHECK(server->All(api::Works()).size() == 4);
}

TEST_CASE_METHOD(Fixture, "a pass that gives the same overridden manifests writes nothing") {
  PutPolicy("first", "");
  CHECK(Becomes("first first"));
  // One worker takes the changes in turn: when the second one shows, the first pass is over.
  const size_t patches = server->Requests("PATCH").size();
  kube::Object policy = server->Find(api::OverridePolicies(), {"ns", "o"});
  json::Value rules = policy.Get({"spec", "overrideRules"});
  rules.Append(tests::Json(R"({"targetCluster": {"clusterNames": ["m9"]}, "overriders": {}})"));
  policy.Set({"spec", "overrideRules"}, rules);
  PutCached(api::OverridePolicies(), policy);
  PutCached(api::ClusterOverridePolicies(), tests::Parse(R"({
      "apiVersion": "policy.karmada.io/v1alpha1", "kind": "ClusterOverridePolicy",
      "metadata": {"name": "c"},
      "spec": {"resourceSelectors": [{"apiVersion": "v1", "kind": "ConfigMap", "name": "other"}],
               "overrideRules": [{"targetCluster": {"clusterNames": ["m1"]}, "overriders": {
                   "plaintext": [{"path": "/data/o", "operator": "add", "value": "v"}]}}]}})"));
  CHECK(tests::Eventually([&] {
    const kube::Object work = WorkOf("other", "m1");
    return !work.Annotation(api::kAppliedClusterOverridesAnnotation).empty();
  }));
  CHECK(server->Requests("PATCH").size() == patches + 1);
}

TEST_CASE_METHOD(Fixture, "Works follow the labels of a cluster that a rule means") {
  PutPolicy("first", R"({"labelSelector": {"matchLabels": {"env": "prod"}}})");
  PutCluster("m2", "prod");
  CHECK(Becomes("- first"));
  PutCluster("m2", "test");
  CHECK(Becomes("- -"));
}

TEST_CASE_METHOD(Fixture, "a policy that cannot be applied keeps no Work from other clusters") {
  const auto reports = [&](const std::string& text) {
    return tests::Eventually([&] {
      for (const std::string& event : recorded->All()) {
        if (absl::StrContains(event, text)) return true;
      }
      return false;
    });
  };
  kube::Object policy = kube::Object::Make(api::ClusterOverridePolicies().gvk, {"", "c"});
  policy.Set({"metadata", "generation"}, 1);
  policy.Set({"spec", "overrideRules"}, tests::Json(R"([
      {"targetCluster": {"clusterNames": ["m1"]},
       "overriders": {"plaintext": [{"path": "/data/none", "operator": "remove"}]}},
      {"targetCluster": {"clusterNames": ["m2"]},
       "overriders": {"plaintext": [{"path": "/data/o", "operator": "add", "value": "v"}]}}])"));
  PutCached(api::ClusterOverridePolicies(), policy);
  CHECK(Becomes("- v"));
  const std::string why =
      "spec.overrideRules[0].overriders.plaintext[0]: remove operation does not apply to "
      "\"/data/none\": the path does not exist";
  CHECK(
      reports("Warning ApplyOverridePolicyFailed ConfigMap: Apply cluster override policy(c) for "
              "cluster(m1) failed. " +
              why));
  CHECK(
      reports("Warning SyncWorkFailed ResourceBinding: cluster m1: ClusterOverridePolicy c cannot "
              "be applied to ConfigMap ns/app: " +
              why));
  policy.Set({"metadata", "generation"}, 2);
  policy.Set({"spec", "overrideRules"}, tests::Json(R"([{"overriders": {}}])"));
  PutCached(api::ClusterOverridePolicies(), policy);
  CHECK(Becomes("- -"));
  CHECK(
      reports("Normal ApplyOverridePolicySucceed ConfigMap: Apply cluster override policy(c) for "
              "cluster(m1) succeed."));
}

TEST_CASE_METHOD(Fixture, "a policy that is too long to be recorded is reported once") {
  const auto events = [&](absl::string_view text) {
    const std::vector<std::string> all = recorded->All();
    return std::count_if(all.begin(), all.end(),
                         [&](const std::string& event) { return absl::StartsWith(event, text); });
  };
  PutPolicy(std::string(300'000, 'x'), R"({"clusterNames": ["m1"]})");
  const std::string why =
      "spec.overrideRules[0].overriders: the overriders for one object and cluster are recorded in "
      "annotations of its Work, which take 262144 bytes together; with this rule they would be "
      "longer";
  const std::string of_binding =
      "Warning SyncWorkFailed ResourceBinding: cluster m1: OverridePolicy ns/o cannot be applied "
      "to ConfigMap ns/app: " +
      why;
  REQUIRE(tests::Eventually([&] { return events(of_binding) > 0; }));
  CHECK(events("Warning ApplyOverridePolicyFailed ConfigMap: Apply override policy(ns/o) for "
               "cluster(m1) failed. " +
               why) > 0);
  CHECK(Added() == "- -");
  // Another failure would be due again, after seconds and then minutes.
  REQUIRE(tests::Eventually([&] {
    clock.Advance(absl::Seconds(1));
    return manager->IsIdle();
  }));
  const auto before = events(of_binding);
  for (int i = 0; i < 50; ++i) {
    clock.Advance(absl::Minutes(10));
    CHECK(manager->IsIdle());
  }
  CHECK(events(of_binding) == before);
  PutPolicy("short", "", 2);
  CHECK(Becomes("short short"));
}

TEST_CASE_METHOD(Fixture,
                 "a policy is tried again, since not every cause of a failure is watched") {
  kube::Object policy = kube::Object::Make(api::ClusterOverridePolicies().gvk, {"", "c"});
  policy.Set({"spec", "overrideRules"}, tests::Json(R"([{"overriders": {"plaintext": [
      {"path": "/data/o", "operator": "replace", "value": "v"}]}}])"));
  PutCached(api::ClusterOverridePolicies(), policy);
  CHECK(tests::Eventually([&] {
    const std::vector<std::string> events = recorded->All();
    return std::any_of(events.begin(), events.end(), [](const std::string& event) {
      return absl::StrContains(event, "ApplyOverridePolicyFailed");
    });
  }));
  // The loop reads the template from the server, and no event wakes it.
  kube::Object object = server->Find(tests::kConfigMaps, {"ns", "app"});
  object.Set({"data", "o"}, "there now");
  server->Put(tests::kConfigMaps, object);
  CHECK(tests::Eventually([&] {
    clock.Advance(absl::Seconds(1));
    return Added() == "v v";
  }));
}

TEST_CASE_METHOD(Fixture, "a cluster that does not exist gets no request, and an event") {
  PutPolicy("first", "");
  REQUIRE(Becomes("first first"));
  for (const char* name : {"app", "other"}) {
    kube::Object binding = BindingOf(name);
    binding.Set({"metadata", "generation"}, 2);
    binding.Set({"spec", "clusters"},
                tests::Json(R"([{"name": "m1"}, {"name": "m2"}, {"name": "m3"}])"));
    PutCached(api::ResourceBindings(), binding);
  }
  CHECK(tests::Eventually([&] {
    const std::vector<std::string> events = recorded->All();
    return std::count_if(events.begin(), events.end(), [](const std::string& event) {
             return absl::StrContains(event, "SyncWorkFailed") &&
                    absl::StrContains(event, "cluster m3: there is no such cluster");
           }) >= 2;
  }));
  const std::vector<std::string> writes = server->Requests("POST");
  CHECK(std::none_of(writes.begin(), writes.end(), [](const std::string& request) {
    return absl::StrContains(request, "karmada-es-m3");
  }));
}

}  // namespace
