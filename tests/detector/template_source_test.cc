// Tests which kinds are watched for templates, and which of their changes are worked on.
#include "detector/template_source.h"

#include <algorithm>
#include <atomic>
#include <catch2/catch.hpp>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "api/binding.h"
#include "api/binding_address.h"
#include "api/keys.h"
#include "api/passed_template.h"
#include "api/policy_scope.h"
#include "api/reasons.h"
#include "detector/register.h"
#include "tests/support/eventually.h"
#include "tests/support/loops_fixture.h"
#include "tests/support/scripted_interpreter.h"

namespace {

using tests::Eventually;
using tests::Json;
using tests::kDeployments;

const kube::Resource kRobots{{"x.io", "v1", "Robot"}, "robots", true};

struct Fixture : tests::LoopsFixture {
  std::optional<detector::PolicyIndex> policies, cluster_policies;
  detector::TemplateMemory memory{*events};
  kube::WorkQueue queue{{.name = "templates"}, clock};
  std::optional<detector::TemplateSource> source;

  Fixture() {
    Sync({api::Clusters(), api::PropagationPolicies(), api::ClusterPropagationPolicies(),
          api::ResourceBindings(), api::ClusterResourceBindings()});
    policies.emplace(informers.Get(api::PropagationPolicies()));
    cluster_policies.emplace(informers.Get(api::ClusterPropagationPolicies()));
    source.emplace(
        detector::TemplateSource::Deps{Make(), *detector::TemplateFilter::Create("", {}), *policies,
                                       *cluster_policies, memory, queue, absl::Seconds(10)},
        kinds);
  }
  bool MayWatch() { return source->MayWatch(kRobots.gvk); }
  bool IsNeeded() { return !kinds.ReasonsFor(kRobots.gvk).empty(); }
  void PutBinding() {
    kube::Object binding = kube::Object::Make(api::ResourceBindings().gvk, {"ns", "r-robot"});
    binding.Set({"spec", "resource"},
                api::ObjectReference::Of(kube::Object::Make(kRobots.gvk, {"ns", "r"})).ToJson());
    PutCached(api::ResourceBindings(), binding);
    REQUIRE(Eventually([&] { return IsNeeded(); }));
  }
};

TEST_CASE_METHOD(Fixture,
                 "a kind of which there is a binding is watched though no cluster has it") {
  source->OnDiscovered({.kinds = {kRobots.gvk}});
  CHECK_FALSE(MayWatch());
  PutBinding();
  CHECK(MayWatch());
}

TEST_CASE_METHOD(Fixture, "a reported wait that a binding ends is reported as ended") {
  kube::Object policy = kube::Object::Make(api::PropagationPolicies().gvk, {"ns", "p"});
  policy.Set({"spec", "resourceSelectors"},
             Json(R"([{"apiVersion": "x.io/v1", "kind": "Robot"}])"));
  PutCached(api::PropagationPolicies(), policy);
  REQUIRE(Eventually([&] { return policies->Selecting(kRobots.gvk).size() == 1; }));
  source->OnDiscovered({.kinds = {kRobots.gvk}});
  CHECK_FALSE(MayWatch());
  clock.Advance(absl::Seconds(4));
  CHECK_FALSE(MayWatch());
  REQUIRE(recorded->All().size() == 1);
  PutBinding();
  REQUIRE(Eventually([&] { return MayWatch(); }));
  CHECK(MayWatch());
  REQUIRE(recorded->All().size() == 2);
  CHECK(absl::StartsWith(recorded->All().at(1), "Warning WaitForKindEnded PropagationPolicy: "));
}

TEST_CASE_METHOD(Fixture, "clusters that a policy names in vain are reported, but not at a start") {
  PutCached(api::Clusters(), kube::Object::Make(api::Clusters().gvk, {"", "m1"}));
  const auto put = [&](const std::string& name, int generation, const std::string& cluster) {
    kube::Object policy = kube::Object::Make(api::PropagationPolicies().gvk, {"ns", name});
    policy.Set({"metadata", "generation"}, generation);
    policy.Set(
        {"spec", "placement"},
        Json(absl::StrCat(R"({"clusterAffinity": {"clusterNames": ["m1", ")", cluster, R"("]}})")));
    policy.Set({"spec", "priority"}, generation);
    PutCached(api::PropagationPolicies(), policy);
  };
  const auto message = [](const std::string& cluster) {
    return absl::StrCat("Warning ClusterNotFound PropagationPolicy: there is no cluster ", cluster,
                        ", which spec.placement.clusterAffinity.clusterNames names. Nothing goes "
                        "there before a cluster of that name joins: join it, or mend the name");
  };
  put("before", 1, "m7");
  REQUIRE(Eventually([&] { return policies->Find({"ns", "before"}) != nullptr; }));
  source->OnStart();
  put("p", 1, "m8");
  put("p", 2, "m8");  // Its placement is the same.
  put("p", 3, "m9");
  REQUIRE(Eventually([&] { return recorded->All().size() >= 2; }));
  CHECK(recorded->All() == std::vector<std::string>{message("m8"), message("m9")});
}

TEST_CASE_METHOD(Fixture, "a kind that comes again after its bindings went waits as a new one") {
  source->OnDiscovered({.kinds = {kRobots.gvk}});
  PutBinding();
  server->Erase(api::ResourceBindings(), {"ns", "r-robot"});
  REQUIRE(Eventually([&] { return !IsNeeded(); }));
  source->OnDiscovered({});
  source->OnDiscovered({.kinds = {kRobots.gvk}});
  CHECK_FALSE(MayWatch());
}

TEST_CASE_METHOD(Fixture, "at a start, what was edited meanwhile goes before what was not") {
  const auto template_named = [](const std::string& name, int generation) {
    kube::Object object = kube::Object::Make(kRobots.gvk, {"ns", name});
    object.Set({"metadata", "resourceVersion"}, absl::StrCat(10 + generation));
    object.Set({"metadata", "generation"}, generation);
    object.Set({"spec", "arms"}, generation);
    return object;
  };
  for (const char* name : {"quiet", "edited"}) {
    const kube::Object passed = template_named(name, 1);
    const api::BindingAddress at = api::BindingOf(passed.kind(), passed.key());
    kube::Object binding = kube::Object::Make(at.resource.gvk, at.key);
    binding.Set({"spec", "resource", "resourceVersion"}, passed.resource_version());
    binding.SetAnnotation(api::kPassedTemplateAnnotation, api::PassedTemplateRecord(passed));
    PutCached(at.resource, binding);
  }
  const kube::EventHandler handler = source->HandlerFor(kRobots);
  handler.on_add(kube::Share(template_named("quiet", 1)), /*initial_list=*/true);
  handler.on_add(kube::Share(template_named("edited", 2)), /*initial_list=*/true);
  for (const char* name : {"edited", "quiet"}) CHECK(queue.Get()->request.key.name == name);
}

TEST_CASE_METHOD(Fixture, "a state that a restored server takes back is an edit after all others") {
  kube::Object later = kube::Object::Make(kRobots.gvk, {"ns", "r"});
  later.Set({"metadata", "resourceVersion"}, "20");
  later.Set({"spec", "arms"}, 3);
  kube::Object restored = later;
  restored.Set({"metadata", "resourceVersion"}, "10");
  restored.Set({"spec", "arms"}, 2);
  source->HandlerFor(kRobots).on_update(kube::Share(later), kube::Share(restored));
  const kube::Request request{.key = {"ns", "r"}, .gvk = kRobots.gvk};
  CHECK(memory.edits.HasSince(request, "20"));
  CHECK_FALSE(memory.edits.HasSince(request, "10"));
}

// The detector's loops, on a control plane that serves Deployments, as its cluster does.
struct StandBy : tests::LoopsFixture {
  tests::ScriptedInterpreter scripted;
  std::atomic<int> asked = 0;

  StandBy() {
    server->Serve({kDeployments});
    scripted.Enable(interpreter::Operation::kInterpretReplica);
    scripted.before_replicas = [this] { ++asked; };
    kube::Object member = kube::Object::Make(api::Clusters().gvk, {"", "m1"});
    member.Set({"status"}, Json(R"({"conditions": [{"type": "Ready", "status": "True"}],
        "apiEnablements": [{"groupVersion": "apps/v1",
                            "resources": [{"name": "deployments", "kind": "Deployment"}]}]})"));
    server->Put(api::Clusters(), member);
    Make();
    REQUIRE(detector::RegisterDetector(ContextWith(scripted), 1).ok());
    manager->Add(kinds.NewRunnable());
    Sync({api::PropagationPolicies()});
  }
  ~StandBy() override {
    base::IgnoreError(Finish(), "the loops use the interpreter");
    manager.reset();
  }
  // Returns a policy that selects a kind of namespace "ns".
  static kube::Object PolicyFor(const std::string& name, const kube::Gvk& kind) {
    kube::Object policy = kube::Object::Make(api::PropagationPolicies().gvk, {"ns", name});
    policy.SetLabel(api::kPropagationPolicyIdLabel, name + "-id");
    policy.Set(
        {"spec", "resourceSelectors"},
        json::Value::Array({json::Value::Object(
            {{"apiVersion", kind.ApiVersion()}, {"kind", kind.kind}, {"namespace", "ns"}})}));
    return policy;
  }
  void PutPolicy(const std::string& name, const kube::Gvk& kind) {
    PutCached(api::PropagationPolicies(), PolicyFor(name, kind));
  }
  void Put(const char* name) {
    server->Put(kDeployments, kube::Object::Make(kDeployments.gvk, {"ns", name}));
    REQUIRE(AwaitBinding(name));
  }
  // Returns how many passes of a controller have succeeded.
  double Passes(absl::string_view controller) {
    return registry
        .GetCounter("controller_runtime_reconcile_total", "",
                    {{"controller", std::string(controller)}, {"result", "success"}})
        .Value();
  }
  // The clock goes on until the event comes, and not beyond.
  bool AwaitEvent(const char* text) {
    return Eventually([&] {
      const std::vector<std::string> all = recorded->All();
      const bool has_come = std::any_of(all.begin(), all.end(), [&](const std::string& event) {
        return absl::StrContains(event, text);
      });
      if (!has_come) clock.Advance(absl::Seconds(1));
      return has_come;
    });
  }
  bool AwaitBinding(const char* name) {
    return Eventually([&] {
      clock.Advance(absl::Seconds(1));
      return !server->Find(api::ResourceBindings(), {"ns", absl::StrCat(name, "-deployment")})
                  .empty();
    });
  }
};

struct Running : StandBy {
  Running() {
    PutPolicy("p", kDeployments.gvk);
    Start();
    // The look at the policy queues the templates that it has claimed.
    REQUIRE(Eventually([&] { return Passes(api::policy_scope::Namespaced::kQueue) > 0; }));
  }
};

TEST_CASE_METHOD(Running, "a new template is looked at once, not again because it was claimed") {
  Put("a");
  Put("b");  // There is one worker: another look at "a" would have come before.
  Put("c");
  CHECK(asked == 3);
}

TEST_CASE_METHOD(Running, "a claim that somebody else takes away or changes is mended") {
  Put("a");
  const auto claim = [&] {
    return std::string(
        server->Find(kDeployments, {"ns", "a"}).Label(api::kPropagationPolicyIdLabel));
  };
  REQUIRE(claim() == "p-id");
  kube::Object a = server->Find(kDeployments, {"ns", "a"});
  SECTION("taken away") { a.EraseLabel(api::kPropagationPolicyIdLabel); }
  SECTION("changed") { a.SetLabel(api::kPropagationPolicyIdLabel, "other"); }
  server->Put(kDeployments, a);
  CHECK(Eventually([&] { return claim() == "p-id"; }));
  // Once more: nothing of the first write is expected any more.
  server->Put(kDeployments, a);
  CHECK(Eventually([&] { return claim() == "p-id"; }));
}

// The clock stands still, so that a back-off does not end.
TEST_CASE_METHOD(Running,
                 "an override that a policy waits for brings its templates when it comes, and so "
                 "does an edit of the policy") {
  kube::Object policy = server->Find(api::PropagationPolicies(), {"ns", "p"});
  policy.Set({"spec", "dependentOverrides"}, Json(R"(["o"])"));
  PutCached(api::PropagationPolicies(), policy);
  server->Put(kDeployments, kube::Object::Make(kDeployments.gvk, {"ns", "a"}));
  REQUIRE(AwaitEvent("waiting for dependent overrides: ns/o"));
  SECTION("the override comes") {
    server->Put(api::OverridePolicies(),
                kube::Object::Make(api::OverridePolicies().gvk, {"ns", "o"}));
  }
  SECTION("the policy does not ask for it any more") {
    policy.Set({"spec", "dependentOverrides"}, Json("[]"));
    policy.Set({"metadata", "generation"}, policy.generation() + 1);
    server->Put(api::PropagationPolicies(), policy);
  }
  CHECK(Eventually([&] {
    return !server->Find(api::ResourceBindings(), {"ns", "a-deployment"}).empty();
  }));
}

// As above, the clock stands still at the end. That there is no binding shows that the template
// did not come back as one that a user has changed.
TEST_CASE_METHOD(StandBy, "an override that a lazy policy waits for brings its waiting templates") {
  kube::Object other = PolicyFor("other", kDeployments.gvk);  // Has the kind watched.
  other.Set({"spec", "resourceSelectors"},
            Json(R"([{"apiVersion": "apps/v1", "kind": "Deployment", "name": "b"}])"));
  PutCached(api::PropagationPolicies(), other);
  Start();
  server->Put(kDeployments, kube::Object::Make(kDeployments.gvk, {"ns", "a"}));
  REQUIRE(Eventually([&] {
    clock.Advance(absl::Seconds(1));
    return Passes(api::kResourceDetector) > 0;
  }));
  kube::Object policy = PolicyFor("p", kDeployments.gvk);
  policy.Set({"spec", "activationPreference"}, "Lazy");
  policy.Set({"spec", "dependentOverrides"}, Json(R"(["o"])"));
  PutCached(api::PropagationPolicies(), policy);
  REQUIRE(AwaitEvent("waiting for dependent overrides: ns/o"));
  server->Put(api::OverridePolicies(),
              kube::Object::Make(api::OverridePolicies().gvk, {"ns", "o"}));
  CHECK(Eventually([&] {
    return server->Find(kDeployments, {"ns", "a"}).Label(api::kPropagationPolicyIdLabel) == "p-id";
  }));
  CHECK(server->Find(api::ResourceBindings(), {"ns", "a-deployment"}).empty());
}

TEST_CASE_METHOD(Running, "a policy whose finalizer was removed by force lets its templates go") {
  Put("a");
  REQUIRE(server->Find(kDeployments, {"ns", "a"}).Label(api::kPropagationPolicyIdLabel) == "p-id");
  server->Erase(api::PropagationPolicies(), {"ns", "p"});
  CHECK(Eventually([&] {
    return server->Find(kDeployments, {"ns", "a"}).Label(api::kPropagationPolicyIdLabel).empty();
  }));
}

TEST_CASE_METHOD(StandBy, "policies that come while another process leads get no event later") {
  PutPolicy("early", {"x.io", "v1", "Robbot"});
  Start();
  PutPolicy("p", kDeployments.gvk);
  Put("a");
  PutPolicy("late", {"x.io", "v1", "Robott"});
  const auto told = [&](const char* kind) {
    const std::vector<std::string> all = recorded->All();
    return std::any_of(all.begin(), all.end(), [&](const std::string& event) {
      return absl::StrContains(event, absl::StrCat("names x.io/v1 ", kind, ","));
    });
  };
  CHECK(Eventually([&] {
    clock.Advance(absl::Seconds(1));
    return told("Robott");
  }));
  CHECK_FALSE(told("Robbot"));
}

}  // namespace
