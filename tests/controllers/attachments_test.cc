#include "controllers/dependencies/attachments.h"

#include <algorithm>
#include <catch2/catch.hpp>
#include <string>
#include <vector>

#include "absl/strings/match.h"
#include "api/keys.h"
#include "controllers/dependencies/attached_bindings.h"
#include "tests/controllers/dependencies_fixture.h"

namespace {

using Attaching = tests::AttachingFixture;
using interpreter::Operation;
using tests::BindingOfWeb;
using tests::Json;
using tests::kConfig;
using tests::kConfigMaps;
using tests::kConfigText;
using tests::kDeployments;
using tests::kWeb;
using tests::kWebBinding;
using Strings = std::vector<std::string>;

const std::string kLabel = controllers::DependedByLabel(kWebBinding);

TEST_CASE_METHOD(Attaching, "what a template needs gets a binding in the template's clusters") {
  REQUIRE(Reconcile().ok());
  const kube::Object config = Config();
  CHECK(config.Label(kLabel) == "id-of-web-deployment");
  CHECK(config.HasFinalizer(api::kBindingFinalizer));
  CHECK(config.ControllerOwner().uid == "uid-of-config");
  CHECK(config.spec() ==
        Json(R"({
      "resource": {"apiVersion": "v1", "kind": "ConfigMap", "namespace": "ns", "name": "config",
                   "uid": "uid-of-config", "resourceVersion": ")" +
             std::string(cluster.Find(kConfigMaps, {"ns", "config"})->resource_version()) +
             R"("},
      "requiredBy": [{"namespace": "ns", "name": "web-deployment", "clusters": [{"name": "m1"}]}],
      "conflictResolution": "Abort", "preserveResourcesOnDeletion": false})"));
  REQUIRE(recorded->All() ==
          Strings{"Normal SyncScheduleResultToDependenciesSucceed ResourceBinding: Sync schedule "
                  "results to dependencies succeed."});
  const size_t calls = server->Calls();
  Renew();
  REQUIRE(Reconcile().ok());
  CHECK(server->Calls() == calls);
  CHECK(recorded->All().size() == 1);
}

TEST_CASE_METHOD(Attaching, "a binding that too many need for etcd is reported with its size") {
  REQUIRE(Reconcile().ok());
  kube::Object attached = Config();
  attached.mutable_root()
      .Mutable({"spec", "requiredBy"})
      .Append(json::Value::Object({{"namespace", "ns"}, {"name", std::string(1600000, 'w')}}));
  Put(attached);
  SetClusters(kWebBinding.name, R"([{"name": "m2"}])");
  server->FailNext("PATCH", 500, "InternalError");
  const absl::Status refused = Reconcile();
  INFO(refused.message().substr(0, 400));
  CHECK(absl::StrContains(refused.message(),
                          "2 bindings need it, and with all their clusters it "
                          "would have 1600"));
  CHECK(absl::StrContains(refused.message(), "etcd stores 1572864 by default"));
}

TEST_CASE_METHOD(Attaching, "a dependency follows the clusters of its template") {
  REQUIRE(Reconcile().ok());
  SetClusters(kWebBinding.name, R"([{"name": "m2", "replicas": 3}])");
  REQUIRE(Reconcile().ok());
  CHECK(Config().Get({"spec", "requiredBy"}) ==
        Json(R"([{"namespace": "ns", "name": "web-deployment",
                  "clusters": [{"name": "m2", "replicas": 3}]}])"));
}

TEST_CASE_METHOD(Attaching, "also while it cannot be determined what the template needs") {
  REQUIRE(Reconcile().ok());
  SetClusters(kWebBinding.name, R"([{"name": "m2"}])");
  SECTION("because the interpreter fails") {
    scripted.dependencies = absl::UnavailableError("hook is down");
    CHECK(absl::IsUnavailable(Reconcile()));
  }
  SECTION("because the rule is gone") {
    scripted.Disable(Operation::kInterpretDependency);
    CHECK(Reconcile().ok());
    CHECK(Recorded() == "-");
  }
  CHECK(Config().Get({"spec", "requiredBy"}).At(0)["clusters"] == Json(R"([{"name": "m2"}])"));
}

TEST_CASE_METHOD(Attaching, "what is needed no more is let go, and needed again attached again") {
  REQUIRE(Reconcile().ok());
  scripted.dependencies = json::Value::Array();
  REQUIRE(Reconcile().ok());
  CHECK(Config().Label(kLabel).empty());
  CHECK_FALSE(Config().spec().Has("requiredBy"));
  CHECK_FALSE(Config().spec().Has("conflictResolution"));
  CHECK(Now().HasFinalizer(api::kDependenciesFinalizer));
  scripted.dependencies = Json(kConfig);
  REQUIRE(Reconcile().ok());
  CHECK(Config().Label(kLabel) == "id-of-web-deployment");
  CHECK(Config().Get({"spec", "requiredBy"}).size() == 1);
}

TEST_CASE_METHOD(Attaching, "objects are chosen by their labels, and let go with them") {
  PutConfig("one", "shop");
  PutConfig("two", "shop");
  scripted.dependencies = Json(R"([{"apiVersion": "v1", "kind": "ConfigMap", "namespace": "ns",
      "labelSelector": {"matchLabels": {"app": "shop"}}}])");
  REQUIRE(Reconcile().ok());
  CHECK(Config().empty());
  CHECK_FALSE(Now("one-configmap").Label(kLabel).empty());
  CHECK_FALSE(Now("two-configmap").Label(kLabel).empty());
  PutConfig("two", "other");
  REQUIRE(Reconcile().ok());
  CHECK_FALSE(Now("one-configmap").Label(kLabel).empty());
  CHECK(Now("two-configmap").Label(kLabel).empty());
}

TEST_CASE_METHOD(Attaching, "a dependency of two templates is in the clusters of both") {
  REQUIRE(Reconcile().ok());
  kube::Object shop = BindingOfWeb("shop-deployment", true);
  shop.Set({"spec", "clusters"}, Json(R"([{"name": "m2"}])"));
  shop.Set({"spec", "conflictResolution"}, "Overwrite");
  Put(shop);
  REQUIRE(reconciler->Reconcile({.key = {"ns", "shop-deployment"}}, {}).ok());
  CHECK(Config().Get({"spec", "requiredBy"}) == Json(R"([
      {"namespace": "ns", "name": "web-deployment", "clusters": [{"name": "m1"}]},
      {"namespace": "ns", "name": "shop-deployment", "clusters": [{"name": "m2"}]}])"));
  CHECK(Config().spec()["conflictResolution"].AsString() == "Overwrite");
  const Strings events = recorded->All();
  CHECK(std::count(events.begin(), events.end(),
                   "Warning DependencyPolicyConflict ResourceBinding: Dependency policy conflict "
                   "detected: ConflictResolution conflicted (Overwrite vs Abort). Overwrite is "
                   "demanded by ns/shop-deployment, Abort by ns/web-deployment; Overwrite "
                   "counts.") == 1);
  kube::Object web = Now();
  web.Set({"spec", "propagateDeps"}, false);
  Put(web);
  REQUIRE(Reconcile().ok());
  CHECK_FALSE(Now().HasFinalizer(api::kDependenciesFinalizer));
  CHECK(Config().Get({"spec", "requiredBy"}).size() == 1);
}

TEST_CASE_METHOD(Attaching, "bindings that demand different things are named in the warning") {
  kube::Object shop = BindingOfWeb("shop-deployment", true);
  shop.Set({"spec", "conflictResolution"}, "Overwrite");
  shop.Set({"spec", "preserveResourcesOnDeletion"}, true);
  Put(shop);
  REQUIRE(Reconcile().ok());
  REQUIRE(reconciler->Reconcile({.key = {"ns", "shop-deployment"}}, {}).ok());
  Strings warnings = recorded->All();
  std::erase_if(warnings, [](const std::string& event) {
    return !absl::StrContains(event, "DependencyPolicyConflict");
  });
  REQUIRE(warnings.size() == 1);
  CHECK(
      warnings[0] ==
      "Warning DependencyPolicyConflict ResourceBinding: Dependency policy conflict detected: "
      "ConflictResolution conflicted (Overwrite vs Abort); PreserveResourcesOnDeletion conflicted "
      "(true vs false). Overwrite is demanded by ns/shop-deployment, Abort by ns/web-deployment; "
      "Overwrite counts. Preservation is demanded by ns/shop-deployment, deletion by "
      "ns/web-deployment; preservation counts.");
  const size_t writes = Writes();
  REQUIRE(Reconcile().ok());
  REQUIRE(reconciler->Reconcile({.key = {"ns", "shop-deployment"}}, {}).ok());
  CHECK(Writes() == writes);  // The two do not overwrite each other's demands.
}

TEST_CASE_METHOD(Attaching, "a demand that has no effect is reported once") {
  kube::Object shop = BindingOfWeb("shop-deployment", true);
  shop.Set({"spec", "conflictResolution"}, "Overwrite");
  Put(shop);
  kube::Object web = Now();
  const auto demand = [&](const char* resolution) {
    web.Set({"spec", "conflictResolution"}, resolution);
    web = Put(web);
    REQUIRE(Reconcile().ok());
    REQUIRE(reconciler->Reconcile({.key = {"ns", "shop-deployment"}}, {}).ok());
    const Strings events = recorded->All();
    return std::count_if(events.begin(), events.end(), [](const std::string& event) {
      return absl::StrContains(event, "DependencyPolicyConflict");
    });
  };
  CHECK(demand("Overwrite") == 0);
  const kube::Object agreed = Config();
  CHECK(demand("Abort") == 1);
  CHECK(Config() == agreed);
  CHECK(demand("Abort") == 1);
  CHECK(demand("Overwrite") == 1);
  CHECK(demand("Abort") == 2);
}

TEST_CASE_METHOD(Attaching, "what was reported of an attached binding is forgotten with it") {
  REQUIRE(Reconcile().ok());
  kube::Object shop = BindingOfWeb("shop-deployment", true);
  shop.Set({"spec", "clusters"}, Json(R"([{"name": "m2"}])"));
  shop.Set({"spec", "conflictResolution"}, "Overwrite");
  Put(shop);
  const auto conflicts = [&] {
    Strings found = recorded->All();
    std::erase_if(found, [](const std::string& event) {
      return !absl::StrContains(event, api::reason::kDependencyPolicyConflict);
    });
    return found.size();
  };
  const auto attach = [&] {
    REQUIRE(Reconcile().ok());
    REQUIRE(reconciler->Reconcile({.key = {"ns", "shop-deployment"}}, {}).ok());
  };
  attach();
  CHECK(conflicts() == 1);
  const kube::ObjectKey config = Config().key();
  server->Erase(api::ResourceBindings(), config);
  REQUIRE(
      tests::Eventually([&] { return cluster.Find(api::ResourceBindings(), config) == nullptr; }));
  REQUIRE(reconciler->Reconcile({.key = config}, {}).ok());
  attach();  // It is another one.
  CHECK(conflicts() == 2);
}

TEST_CASE_METHOD(Attaching, "a binding that a policy placed keeps what the policy wants") {
  kube::Object placed = BindingOfWeb("config-configmap", false);
  placed.Set({"spec", "placement"}, json::Value::Object());
  placed.Set({"spec", "conflictResolution"}, "Overwrite");
  placed.Set({"spec", "resource"},
             api::ObjectReference::Of(*cluster.Find(kConfigMaps, {"ns", "config"})).ToJson());
  placed = Put(placed);
  REQUIRE(Reconcile().ok());
  kube::Object expected = placed;
  expected.SetLabel(kLabel, "id-of-web-deployment");
  expected.Set({"spec", "requiredBy"}, Json(R"([
      {"namespace": "ns", "name": "web-deployment", "clusters": [{"name": "m1"}]}])"));
  CHECK(Config().spec() == expected.spec());
  CHECK(Config().labels() == expected.labels());
}

TEST_CASE_METHOD(Attaching, "the binding of an earlier object of the same name is not taken over") {
  kube::Object old = BindingOfWeb("config-configmap", false);
  old.Set({"metadata", "ownerReferences"},
          Json(R"([{"apiVersion": "v1", "kind": "ConfigMap", "name": "config", "uid": "before",
                    "controller": true}])"));
  Put(old);
  const absl::Status refused = Reconcile();
  CHECK(absl::IsFailedPrecondition(refused));
  CHECK(absl::StrContains(refused.message(),
                          "ResourceBinding ns/config-configmap belongs to v1 ConfigMap ns/config "
                          "(uid before), an earlier object of the same name"));
  CHECK(Config().Label(kLabel).empty());
}

TEST_CASE_METHOD(Attaching, "a bad reference is reported, and the others followed") {
  scripted.dependencies = Json(R"([
      {"apiVersion": "v1", "kind": "ConfigMap", "namespace": "other", "name": "config"},
      {"apiVersion": "v1", "kind": "ConfigMap", "namespace": "ns"},
      {"apiVersion": "v1", "kind": "ConfigMap", "namespace": "ns", "name": "missing"},
      {"apiVersion": "v1", "kind": "ConfigMap", "namespace": "ns", "name": "config"}])");
  const absl::Status failed = Reconcile();
  CHECK(absl::StrContains(failed.message(), "ConfigMap other/config is in another namespace"));
  CHECK(absl::StrContains(failed.message(),
                          "v1 ConfigMap in ns has neither a name nor a labelSelector"));
  CHECK_FALSE(Config().Label(kLabel).empty());
  REQUIRE(recorded->All().size() == 1);
  CHECK(absl::StartsWith(recorded->All()[0],
                         "Warning SyncScheduleResultToDependenciesFailed ResourceBinding: "));
}

TEST_CASE_METHOD(Attaching, "while a reference is not valid nothing is let go") {
  REQUIRE(Reconcile().ok());
  const std::string bad = GENERATE(
      as<std::string>(),
      R"([{"apiVersion": "v1", "kind": "ConfigMap", "namespace": "ns", "labelSelector":
          {"matchExpressions": [{"key": "app", "operator": "Is"}]}}])",
      R"([{"apiVersion": "a/b/c", "kind": "ConfigMap", "namespace": "ns", "name": "other"}])",
      R"([{"apiVersion": "v1", "kind": "ConfigMap", "name": "other"}])");
  scripted.dependencies = Json(bad);
  const absl::Status refused = Reconcile();
  CHECK(absl::IsInvalidArgument(refused));
  CHECK(base::IsTerminal(refused));
  CHECK_FALSE(Config().Label(kLabel).empty());
}

TEST_CASE_METHOD(Attaching, "a reference to another namespace keeps nothing from being let go") {
  PutConfig("more");
  scripted.dependencies = Json(R"([
      {"apiVersion": "v1", "kind": "ConfigMap", "namespace": "ns", "name": "config"},
      {"apiVersion": "v1", "kind": "ConfigMap", "namespace": "ns", "name": "more"},
      {"apiVersion": "v1", "kind": "ConfigMap", "namespace": "other", "name": "config"}])");
  CHECK(absl::IsInvalidArgument(Reconcile()));
  CHECK_FALSE(Now("more-configmap").Label(kLabel).empty());
  scripted.dependencies = Json(R"([
      {"apiVersion": "v1", "kind": "ConfigMap", "namespace": "ns", "name": "config"},
      {"apiVersion": "v1", "kind": "ConfigMap", "namespace": "other", "name": "config"}])");
  CHECK(absl::IsInvalidArgument(Reconcile()));
  CHECK(Now("more-configmap").Label(kLabel).empty());
  CHECK_FALSE(Config().Label(kLabel).empty());
}

TEST_CASE_METHOD(Attaching, "a reference without the namespace of its kind, and one of no kind") {
  scripted.dependencies = Json(R"([{"apiVersion": "v1", "kind": "ConfigMap", "name": "config"},
                                   {"apiVersion": "x.io/v1", "kind": "Nothing", "namespace": "ns",
                                    "name": "a"}])");
  const absl::Status failed = Reconcile();
  CHECK(absl::StrContains(failed.message(), "ConfigMap config has no namespace"));
  CHECK(absl::StrContains(failed.message(), "Nothing"));
  CHECK_FALSE(base::IsTerminal(failed));  // The kind may be served later.
}

TEST_CASE_METHOD(Attaching, "an object that a selector excludes by a label is let go") {
  PutConfig("one");
  scripted.dependencies = Json(R"([{"apiVersion": "v1", "kind": "ConfigMap", "namespace": "ns",
      "labelSelector": {"matchExpressions": [{"key": "app", "operator": "DoesNotExist"}]}}])");
  REQUIRE(Reconcile().ok());
  CHECK_FALSE(Now("one-configmap").Label(kLabel).empty());
  PutConfig("one", "shop");
  REQUIRE(Reconcile().ok());
  CHECK(Now("one-configmap").Label(kLabel).empty());
}

TEST_CASE_METHOD(Attaching, "a binding of another version of the kind serves as well") {
  REQUIRE(Reconcile().ok());
  kube::Object attached = Config();
  attached.Set({"spec", "resource", "apiVersion"}, "v2");
  attached = Put(attached);
  REQUIRE(Reconcile().ok());
  CHECK(Config().resource_version() == attached.resource_version());
}

TEST_CASE_METHOD(Attaching, "a binding that is gone without its finalizer leaves nothing behind") {
  REQUIRE(Reconcile().ok());
  if (GENERATE(true, false)) {
    kube::Object attached = Config();
    attached.EraseLabel(kLabel);
    Put(attached);
  }
  server->Erase(api::ResourceBindings(), kWebBinding);
  REQUIRE(tests::Eventually(
      [&] { return cluster.Find(api::ResourceBindings(), kWebBinding) == nullptr; }));
  seen->Note(kWebBinding);
  REQUIRE(Reconcile().ok());
  CHECK(Config().Label(kLabel).empty());
  CHECK_FALSE(Config().spec().Has("requiredBy"));
}

TEST_CASE_METHOD(Attaching,
                 "only a binding that was seen to go lets go, if the server confirms it") {
  REQUIRE(Reconcile().ok());
  const kube::Object web = Now();
  server->Erase(api::ResourceBindings(), kWebBinding);
  REQUIRE(tests::Eventually(
      [&] { return cluster.Find(api::ResourceBindings(), kWebBinding) == nullptr; }));
  SECTION("it may be yet to come") { REQUIRE(Reconcile().ok()); }
  SECTION("the server fails") {
    seen->Note(kWebBinding);
    server->FailNext("GET", 403, "Forbidden");
    CHECK_FALSE(Reconcile().ok());
  }
  SECTION("it is there again, and the watch is late") {
    server->Block("WATCH");
    server->EndWatches(absl::OkStatus());
    server->Put(api::ResourceBindings(), web);
    seen->Note(kWebBinding);
    REQUIRE(Reconcile().ok());
    server->Unblock();
  }
  CHECK(Config().Get({"spec", "requiredBy"}).size() == 1);
  CHECK_FALSE(Config().Label(kLabel).empty());
}

TEST_CASE_METHOD(Attaching, "a binding that lost its id lets go, too") {
  REQUIRE(Reconcile().ok());
  kube::Object binding = Now();
  binding.EraseLabel(api::kResourceBindingIdLabel);
  binding.Set({"spec", "propagateDeps"}, false);
  Put(binding);
  REQUIRE(Reconcile().ok());
  CHECK(Config().Label(kLabel).empty());
  CHECK_FALSE(Config().spec().Has("requiredBy"));
}

TEST_CASE_METHOD(Attaching, "an attached binding without an owner gets one") {
  REQUIRE(Reconcile().ok());
  kube::Object attached = Config();
  attached.Erase({"metadata", "ownerReferences"});
  Put(attached);
  REQUIRE(Reconcile().ok());
  CHECK(Config().ControllerOwner().uid == "uid-of-config");
}

TEST_CASE_METHOD(Attaching, "nothing is attached to a binding that the webhook has not labelled") {
  kube::Object binding = Now();
  binding.EraseLabel(api::kResourceBindingIdLabel);
  Put(binding);
  CHECK(absl::StrContains(Reconcile().message(), api::kResourceBindingIdLabel));
  CHECK(Config().empty());
}

TEST_CASE_METHOD(Attaching, "a binding in no cluster attaches nothing new") {
  SetClusters(kWebBinding.name, "[]");
  REQUIRE(Reconcile().ok());
  CHECK(Config().empty());
}

TEST_CASE_METHOD(Attaching, "two writers of one binding: the second one tries again") {
  server->FailNext("POST", 409, "AlreadyExists");
  CHECK(absl::IsAborted(Reconcile()));
  REQUIRE(Reconcile().ok());
  CHECK_FALSE(Config().Label(kLabel).empty());
}

}  // namespace
