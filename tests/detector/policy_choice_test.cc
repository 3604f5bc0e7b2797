// Which policy a template follows, and what happens to it until that policy is complete.
#include <catch2/catch.hpp>
#include <string>
#include <utility>
#include <vector>

#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "detector/request_reason.h"
#include "tests/detector/policies_fixture.h"

namespace {

using detector::kNotByAnEdit;
using tests::Json;
using tests::kDeployments;
using tests::kWeb;

struct Fixture : tests::PoliciesFixture {
  // Changes the spec of a policy.
  void SetIn(const std::string& name, absl::string_view field, json::Value value) {
    kube::Object policy = server->Find(KindOf(name), KeyOf(name));
    policy.Set({"spec", field}, std::move(value));
    PutIndexed(name, policy);
  }
  void Edit() {
    kube::Object web = server->Find(kDeployments, kWeb);
    web.Set({"spec", "replicas"}, web.Get({"spec", "replicas"}).AsInt() + 1);
    PutCached(kDeployments, web);
  }
  // The loop has seen that a user edited the template.
  void SeeEdit() {
    const std::string version(server->Find(kDeployments, kWeb).resource_version());
    memory.edits.Add({.key = kWeb, .gvk = kDeployments.gvk}, version);
  }
  bool IsBlocked() const { return !memory.blocked.All().empty(); }
};

TEST_CASE_METHOD(Fixture, "an edit that is not put into clusters is not timed") {
  works::EditTimes times(cluster, clock, registry);
  reconciler.emplace(detector::TemplateReconciler::Deps{
      *manager, scripted, *policies, *cluster_policies, memory, rechecks, {}, &times});
  kube::Object edited = kube::Object::Make(kDeployments.gvk, kWeb);
  edited.Set({"metadata", "generation"}, 2);
  times.Seen(edited);
  SECTION("no policy selects the template") {
    CHECK(Pass().ok());
    CHECK(times.IsIdle());
  }
  SECTION("its policy waits for an override policy") {
    Put("waits", 1);
    SetIn("waits", "dependentOverrides", json::Value::Strings({"missing"}));
    CHECK_FALSE(Pass().ok());
    CHECK(times.IsIdle());
  }
  SECTION("its policy lets it pass") {
    Put("passes", 1);
    CHECK(Pass().ok());
    CHECK_FALSE(times.IsIdle());
  }
}

TEST_CASE_METHOD(Fixture, "a policy of the namespace is preferred to any cluster policy") {
  Put("CLUSTER", 9, "Never");
  Put("p", -5, "Never", "{}");
  REQUIRE(Pass().ok());
  CHECK(Holder() == "p");
  CHECK(HolderOf(Binding()) == "p");
}

TEST_CASE_METHOD(Fixture, "a template without a namespace's policy follows a cluster policy") {
  Put("elsewhere", 9, "Never", R"({"name": "other"})");
  Put("CLUSTER", 0, "Never", "{}");
  REQUIRE(Pass().ok());
  CHECK(Holder() == "CLUSTER");
}

TEST_CASE_METHOD(Fixture, "a template stays with its policy when a better one comes") {
  Put("p", 0, "Never", "{}");
  REQUIRE(Pass().ok());
  Put("better", 9, "Never");
  REQUIRE(Pass().ok());
  CHECK(Holder() == "p");
  // It is the better one's turn once the first does not select the template any more.
  SetIn("p", "resourceSelectors", Json(R"([{"apiVersion": "apps/v1", "kind": "Deployment",
                                            "name": "other"}])"));
  REQUIRE(Pass().ok());
  CHECK(Holder() == "");
  REQUIRE(Pass().ok());
  CHECK(Holder() == "better");
  CHECK(HolderOf(Binding()) == "better");
}

TEST_CASE_METHOD(Fixture, "a lazy policy is applied when a user creates or edits the template") {
  Put("p", 0);
  SetIn("p", "activationPreference", "Lazy");
  SECTION("not when the policy comes after the template") {
    REQUIRE(Pass(kNotByAnEdit).ok());
    CHECK(Holder() == "p");
    CHECK(Binding().empty());
    Edit();
  }
  SECTION("nor when the template is seen after the policy and may be older") {
    REQUIRE(Pass().ok());
    CHECK(Holder() == "p");
    CHECK(Binding().empty());
    Edit();
  }
  SeeEdit();
  REQUIRE(Pass().ok());
  CHECK(HolderOf(Binding()) == "p");

  SetIn("p", "placement", Json(R"({"clusterAffinity": {"clusterNames": ["m1"]}})"));
  REQUIRE(Pass(kNotByAnEdit).ok());
  CHECK(Binding().spec()["placement"] == Json("{}"));
  Edit();
  REQUIRE(Pass().ok());
  CHECK(Binding().spec()["placement"] == Json(R"({"clusterAffinity": {"clusterNames": ["m1"]}})"));
}

// A lazy policy that was created at minute 1, and whose selectors were changed at minute 3. Servers
// record in managedFields who has changed what when.
struct LazyFixture : Fixture {
  LazyFixture() {
    Put("p", 0);
    SetIn("p", "activationPreference", "Lazy");
    kube::Object policy = server->Find(KindOf("p"), KeyOf("p"));
    policy.Set({"metadata", "creationTimestamp"}, Minute(1));
    policy.Set({"metadata", "generation"}, 2);
    const std::string selectors = R"({"f:spec": {"f:resourceSelectors": {}}})";
    policy.Set({"metadata", "managedFields"}, json::Value::Array({ChangedBy("u", selectors, 3)}));
    PutIndexed("p", policy);
  }
  static std::string Minute(int minute) { return absl::StrCat("2026-01-01T00:0", minute, ":00Z"); }
  static json::Value ChangedBy(const std::string& manager, const std::string& fields, int minute) {
    return json::Value::Object({{"manager", manager},
                                {"operation", "Update"},
                                {"time", Minute(minute)},
                                {"fieldsV1", Json(fields)}});
  }
  void SetCreated(int minute) {
    kube::Object web = server->Find(kDeployments, kWeb);
    web.Set({"metadata", "creationTimestamp"}, Minute(minute));
    PutCached(kDeployments, web);
  }
  // The server tells when the template was claimed, and when a user edited it last.
  void SetClaimedAndEdited(int claimed, int edited) {
    const std::string claim =
        absl::StrCat(R"({"f:metadata": {"f:labels": {"f:)", Namespaced::kIdLabel, R"(": {}}}})");
    kube::Object web = server->Find(kDeployments, kWeb);
    web.Set({"metadata", "managedFields"},
            json::Value::Array({ChangedBy("karmada", claim, claimed),
                                ChangedBy("u", R"({"f:spec": {"f:replicas": {}}})", edited)}));
    PutCached(kDeployments, web);
  }
  // Returns whether there is a binding after a pass that no edit has led to.
  bool BindsByItself() {
    REQUIRE(Pass(kNotByAnEdit).ok());
    CHECK(Holder() == "p");
    return HolderOf(Binding()) == "p";
  }
};

TEST_CASE_METHOD(LazyFixture, "a lazy policy acts on an edit that nobody saw after its claim") {
  SetCreated(0);
  CHECK_FALSE(BindsByItself());
  SetClaimedAndEdited(4, 0);
  CHECK_FALSE(BindsByItself());
  const size_t reads = server->Requests("GET").size();
  CHECK_FALSE(BindsByItself());
  CHECK(server->Requests("GET").size() == reads);  // The server is asked once.
  SetClaimedAndEdited(4, 5);
  CHECK(BindsByItself());
}

TEST_CASE_METHOD(LazyFixture, "a lazy policy that begins to select a template waits for an edit") {
  SetCreated(2);
  CHECK_FALSE(BindsByItself());
  SetClaimedAndEdited(4, 2);
  CHECK_FALSE(BindsByItself());
  SeeEdit();
  REQUIRE(Pass().ok());
  CHECK(HolderOf(Binding()) == "p");
}

TEST_CASE_METHOD(LazyFixture, "a lazy policy binds what was created while nobody looked") {
  SECTION("after it was changed") { SetCreated(4); }
  SECTION("and claimed before a restart") {
    SetCreated(2);
    CHECK_FALSE(BindsByItself());
    SetClaimedAndEdited(3, 2);
  }
  CHECK(BindsByItself());
}

TEST_CASE_METHOD(Fixture, "a template that a lazy policy has claimed is bound when a pass failed") {
  Put("p", 0);
  SetIn("p", "activationPreference", "Lazy");
  // The template is created after the policy, within the same second.
  constexpr char kSecond[] = "2026-01-01T00:00:00Z";
  kube::Object policy = server->Find(KindOf("p"), KeyOf("p"));
  policy.Set({"metadata", "creationTimestamp"}, kSecond);
  PutIndexed("p", policy);
  kube::Object web = server->Find(kDeployments, kWeb);
  web.Set({"metadata", "creationTimestamp"}, kSecond);
  PutCached(kDeployments, web);
  server->FailNext("POST", 500, "InternalError");
  REQUIRE_FALSE(Pass().ok());
  REQUIRE(Holder() == "p");
  REQUIRE(Pass().ok());
  CHECK(HolderOf(Binding()) == "p");
}

constexpr char kInM1[] = R"({"clusterAffinity": {"clusterNames": ["m1"]}})";

// A start, a resync and a stand-by's queue lead to passes for which nobody has edited anything.
TEST_CASE_METHOD(Fixture,
                 "a lazy policy's change waits for an edit, whatever queues the template") {
  Put("p", 0);
  SetIn("p", "activationPreference", "Lazy");
  SeeEdit();
  REQUIRE(Pass().ok());
  SetIn("p", "placement", Json(kInM1));
  for (const kube::Reason reason : {kube::Reason(), kNotByAnEdit}) {
    REQUIRE(Pass(reason).ok());
    CHECK(Binding().spec()["placement"] == Json("{}"));
  }
  Edit();  // Nobody has seen it: it was made while nobody led.
  REQUIRE(Pass(kNotByAnEdit).ok());
  CHECK(Binding().spec()["placement"] == Json(kInM1));
}

TEST_CASE_METHOD(Fixture, "a lazy policy waits for an edit at a binding that upstream has made") {
  Put("p", 0);
  SetIn("p", "activationPreference", "Lazy");
  SeeEdit();
  REQUIRE(Pass().ok());
  kube::Object binding = Binding();
  binding.EraseAnnotation(api::kPassedTemplateAnnotation);
  PutCached(api::ResourceBindings(), binding);
  SetIn("p", "placement", Json(kInM1));
  for (const kube::Reason reason : {kube::Reason(), kNotByAnEdit}) {
    REQUIRE(Pass(reason).ok());
    CHECK(Binding().spec()["placement"] == Json("{}"));
  }
  SECTION("of the labels, which shows in no generation") {
    kube::Object web = server->Find(kDeployments, kWeb);
    web.SetLabel("tier", "front");
    const kube::Object now = PutCached(kDeployments, web);
    memory.edits.Add({.key = kWeb, .gvk = kDeployments.gvk}, now.resource_version());
    REQUIRE(Pass().ok());
  }
  SECTION("that nobody has seen") {
    Edit();
    REQUIRE(Pass(kNotByAnEdit).ok());
  }
  CHECK(Binding().spec()["placement"] == Json(kInM1));
  CHECK(Binding().Annotation(api::kPassedTemplateAnnotation) != "");
}

TEST_CASE_METHOD(Fixture, "a lazy policy binds what was created after it, also at a start") {
  const auto created = [&](const kube::Resource& resource, const kube::ObjectKey& key,
                           const char* time) {
    kube::Object object = server->Find(resource, key);
    object.Set({"metadata", "creationTimestamp"}, time);
    return object;
  };
  Put("p", 0);
  SetIn("p", "activationPreference", "Lazy");
  PutIndexed("p", created(KindOf("p"), KeyOf("p"), "2026-01-01T00:00:01Z"));
  SECTION("in a later second") {
    PutCached(kDeployments, created(kDeployments, kWeb, "2026-01-01T00:00:02Z"));
    REQUIRE(Pass(kNotByAnEdit).ok());
    CHECK(HolderOf(Binding()) == "p");
  }
  SECTION("in the same second, by the order of the versions") {
    PutCached(kDeployments, created(kDeployments, kWeb, "2026-01-01T00:00:01Z"));
    REQUIRE(Pass(kNotByAnEdit).ok());
    CHECK(HolderOf(Binding()) == "p");
  }
  SECTION("and not what was there in that second before it") {
    PutCached(kDeployments, created(kDeployments, kWeb, "2026-01-01T00:00:01Z"));
    PutIndexed("p", server->Find(KindOf("p"), KeyOf("p")));
    REQUIRE(Pass(kNotByAnEdit).ok());
    REQUIRE(Pass(kNotByAnEdit).ok());  // It is claimed by now, which makes it younger.
    CHECK(Holder() == "p");
    CHECK(Binding().empty());
  }
  SECTION("and not what is older") {
    PutCached(kDeployments, created(kDeployments, kWeb, "2026-01-01T00:00:00Z"));
    REQUIRE(Pass(kNotByAnEdit).ok());
    CHECK(Holder() == "p");
    CHECK(Binding().empty());
  }
}

TEST_CASE_METHOD(Fixture, "a lazy policy that follows another one waits for an edit, too") {
  Put("p", 0);
  REQUIRE(Pass().ok());
  Put("q", 0);
  SetIn("q", "activationPreference", "Lazy");
  SetIn("q", "placement", Json(kInM1));
  SetIn("p", "resourceSelectors", Json(R"([{"apiVersion": "apps/v1", "kind": "Deployment",
                                            "name": "other"}])"));
  REQUIRE(Pass().ok());
  REQUIRE(Holder() == "");
  REQUIRE(Pass(kNotByAnEdit).ok());
  CHECK(Holder() == "q");
  CHECK(HolderOf(Binding()) == "");
  Edit();
  REQUIRE(Pass().ok());
  CHECK(HolderOf(Binding()) == "q");
}

TEST_CASE_METHOD(Fixture, "a binding keeps a suspension of scheduling that came a moment ago") {
  Put("p", 0);
  SetIn("p", "suspension", Json(R"({"dispatching": true})"));
  REQUIRE(Pass().ok());
  SetIn("p", "suspension", json::Value());
  // The cache does not see what somebody else writes now.
  server->Block("WATCH");
  server->EndWatches(absl::OkStatus());
  kube::Object binding = Binding();
  binding.Set({"spec", "suspension", "scheduling"}, true);
  server->Put(api::ResourceBindings(), binding);
  CHECK(absl::IsAborted(Pass()));
  server->Unblock();
  REQUIRE(Pass().ok());
  CHECK(Binding().spec()["suspension"] == Json(R"({"scheduling": true})"));
}

TEST_CASE_METHOD(Fixture, "a template whose policy names something missing is blocked until then") {
  Put("p", 0);
  SetIn("p", "dependentOverrides", Json(R"(["o"])"));
  CHECK_FALSE(Pass().ok());
  REQUIRE(memory.blocked.All().size() == 1);
  CHECK(memory.blocked.All()[0].request == kube::Request{.key = kWeb, .gvk = kDeployments.gvk});
  CHECK(memory.blocked.All()[0].policy == kube::ObjectKey{"ns", "p"});
  CHECK(Holder() == "");
  server->Put(api::OverridePolicies(),
              kube::Object::Make(api::OverridePolicies().gvk, {"ns", "o"}));
  REQUIRE(Pass().ok());
  CHECK_FALSE(IsBlocked());
}

TEST_CASE_METHOD(Fixture, "a template is not blocked any more once its policy does not match") {
  Put("p", 0);
  SetIn("p", "dependentOverrides", Json(R"(["o"])"));
  CHECK_FALSE(Pass().ok());
  CHECK(IsBlocked());
  SetIn("p", "resourceSelectors",
        Json(R"([{"apiVersion": "apps/v1", "kind": "Deployment", "name": "other"}])"));
  REQUIRE(Pass().ok());
  CHECK_FALSE(IsBlocked());
}

// If its request came again as one for an edit by a user, a lazy policy would act on it.
TEST_CASE_METHOD(Fixture, "a template that only Karmada has changed is blocked as such") {
  Put("p", 0);
  SetIn("p", "activationPreference", "Lazy");
  SetIn("p", "dependentOverrides", Json(R"(["o"])"));
  CHECK_FALSE(Pass(kNotByAnEdit).ok());
  REQUIRE(IsBlocked());
  CHECK(memory.blocked.All()[0].request.reason == kNotByAnEdit);
  SECTION("until a user changes it as well") {
    CHECK_FALSE(Pass().ok());
    CHECK_FALSE(Pass(kNotByAnEdit).ok());
    CHECK(memory.blocked.All().at(0).request.reason == kube::Reason());
  }
  SECTION("until nothing is missing") {
    server->Put(api::OverridePolicies(),
                kube::Object::Make(api::OverridePolicies().gvk, {"ns", "o"}));
    REQUIRE(Pass(kNotByAnEdit).ok());
    CHECK_FALSE(IsBlocked());
  }
}

TEST_CASE_METHOD(Fixture, "finalizers that hold up a template's deletion are reported, once") {
  Put("p", 0);
  REQUIRE(Pass().ok());
  const kube::Request request{.key = kWeb, .gvk = kDeployments.gvk};
  const auto delay = [&] { return reconciler->Reconcile(request, {})->delay(); };
  const auto reports = [&] {
    std::vector<std::string> found;
    for (const std::string& event : recorded->All()) {
      if (absl::StrContains(event, "DeletionBlocked")) found.push_back(event);
    }
    return found;
  };
  kube::Object web = server->Find(kDeployments, kWeb);
  web.Set({"metadata", "deletionTimestamp"}, kube::FormatTime(clock.Now()));
  web.AddFinalizer("example.com/never");
  PutCached(kDeployments, web);
  CHECK(delay() > absl::Minutes(4));
  clock.Advance(absl::Minutes(4));
  CHECK(delay() <= absl::Minutes(1));
  CHECK(reports().empty());
  clock.Advance(absl::Minutes(1));
  REQUIRE(Pass().ok());
  REQUIRE(Pass().ok());
  REQUIRE(reports().size() == 1);
  CHECK(absl::StartsWith(reports()[0], "Warning DeletionBlocked Deployment: Deployment ns/web is"));
  CHECK(absl::StrContains(reports()[0], "metadata.finalizers keeps it: example.com/never. "));
  // What has changed is news.
  web = server->Find(kDeployments, kWeb);
  web.AddFinalizer("example.com/neither");
  PutCached(kDeployments, web);
  REQUIRE(Pass().ok());
  CHECK(reports().size() == 2);
  memory.Forget(request);
  REQUIRE(Pass().ok());
  CHECK(reports().size() == 3);
}

TEST_CASE_METHOD(Fixture, "an object whose binding's name is too long gets an error that says so") {
  const std::string name(250, 'a');
  PutCached(kDeployments, kube::Object::Make(kDeployments.gvk, {"ns", name}));
  Put("p", 0, "Never", "{}");
  const kube::Request request{.key = {"ns", name}, .gvk = kDeployments.gvk};
  const std::string error(reconciler->Reconcile(request, {}).status().message());
  CHECK_THAT(error, Catch::Contains(absl::StrCat(name, "-deployment, which has 261 characters")));
  CHECK_THAT(error, Catch::Contains("if its name has at most 242"));
  CHECK(server->All(api::ResourceBindings()).empty());

  const std::string longest(242, 'a');
  PutCached(kDeployments, kube::Object::Make(kDeployments.gvk, {"ns", longest}));
  CHECK(reconciler->Reconcile({.key = {"ns", longest}, .gvk = kDeployments.gvk}, {}).ok());
}

// The dependencies loop does not watch it when no binding records it as a dependency any more.
TEST_CASE_METHOD(Fixture, "an edit of a template without a policy is shown to what requires it") {
  kube::WorkQueue rechecked{{.name = "rechecked"}, clock};
  rechecks.Subscribe(api::ResourceBindings(), rechecked);
  const kube::Object web = server->Find(kDeployments, kWeb);
  kube::Object attached = kube::Object::Make(api::ResourceBindings().gvk, {"ns", "web-deployment"});
  attached.Set({"spec", "resource"},
               json::Value::Object({{"apiVersion", "apps/v1"},
                                    {"kind", "Deployment"},
                                    {"namespace", "ns"},
                                    {"name", "web"},
                                    {"uid", std::string(web.uid())},
                                    {"resourceVersion", std::string(web.resource_version())}}));
  attached.Set({"spec", "requiredBy"}, Json(R"([{"namespace": "ns", "name": "app-deployment"}])"));
  PutCached(api::ResourceBindings(), attached);
  REQUIRE(Pass().ok());
  CHECK(rechecked.size() == 0);
  Edit();
  REQUIRE(Pass().ok());
  CHECK(rechecked.size() == 1);
}

}  // namespace
