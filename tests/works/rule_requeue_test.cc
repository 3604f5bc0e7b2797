// A change of a rule must queue everything that it touches, and nothing else.
#include "works/rule_requeue.h"

#include <catch2/catch.hpp>
#include <set>
#include <string>
#include <vector>

#include "absl/strings/str_cat.h"
#include "api/binding.h"
#include "interpreter/rule_changes.h"
#include "tests/support/members_fixture.h"
#include "tests/support/scripted_interpreter.h"

namespace {

using interpreter::Operation;
using tests::Json;
using tests::kConfigMaps;
using tests::kDeployments;

kube::Object Binding(const std::string& name, const kube::Resource& kind) {
  kube::Object binding = kube::Object::Make(api::ResourceBindings().gvk, {"ns", name});
  const kube::Object object = kube::Object::Make(kind.gvk, {"ns", "app-" + name});
  binding.Set({"spec", "resource"}, api::ObjectReference::Of(object).ToJson());
  return binding;
}

// Returns a Work with manifests called app-<name>-0, app-<name>-1, ...
kube::Object Work(const std::string& name, const std::vector<kube::Resource>& kinds) {
  kube::Object work = kube::Object::Make(api::Works().gvk, {"karmada-es-m1", name});
  json::Value manifests = json::Value::Array();
  for (const kube::Resource& kind : kinds) {
    const kube::ObjectKey key{"ns", absl::StrCat("app-", name, "-", manifests.size())};
    manifests.Append(kube::Object::Make(kind.gvk, key).root());
  }
  work.Set({"spec", "workload", "manifests"}, manifests);
  return work;
}

interpreter::RuleChange ChangeOf(const kube::Resource& kind, Operation op) {
  return [gvk = kind.gvk, op](const kube::Gvk& g, Operation o) { return g == gvk && o == op; };
}

struct Fixture : tests::MembersFixture {
  tests::ScriptedInterpreter scripted;
  kube::WorkQueue queue{{.name = "q"}, clock};

  Fixture() {
    Sync({api::ResourceBindings(), api::Works()});
    PutCached(api::ResourceBindings(), Binding("web", kDeployments));
    PutCached(api::ResourceBindings(), Binding("shop", kDeployments));
    PutCached(api::ResourceBindings(), Binding("config", kConfigMaps));
    PutCached(api::Works(), Work("web", {kDeployments}));
    PutCached(api::Works(), Work("config", {kConfigMaps}));
    PutCached(api::Works(), Work("both", {kConfigMaps, kDeployments, kDeployments}));
  }
  works::RuleRequeue Of(const kube::Resource& r, std::vector<Operation> operations) {
    return {queue, informers.Get(r), std::move(operations)};
  }
  // Returns what is in the queue now, and empties it.
  std::set<std::string> Queued() {
    std::set<std::string> found;
    for (size_t left = queue.size(); left > 0; --left) {
      const auto taken = queue.Get();
      found.insert(taken->request.ToString());
      queue.Done(taken->request);
    }
    return found;
  }
};

using Names = std::set<std::string>;

TEST_CASE_METHOD(Fixture, "a changed rule queues all bindings of its kind, and no other") {
  works::RequeueBindings(scripted, Of(api::ResourceBindings(), {Operation::kReviseReplica}));
  CHECK(Queued().empty());
  scripted.changes.Publish(ChangeOf(kDeployments, Operation::kReviseReplica));
  CHECK(Queued() == Names{"ns/web", "ns/shop"});
  scripted.changes.Publish(ChangeOf(kConfigMaps, Operation::kReviseReplica));
  CHECK(Queued() == Names{"ns/config"});
  scripted.changes.Publish(ChangeOf(tests::kServices, Operation::kReviseReplica));
  CHECK(Queued().empty());
}

TEST_CASE_METHOD(Fixture, "only the operations that the loop asks for count, each of them") {
  works::RequeueBindings(
      scripted, Of(api::ResourceBindings(), {Operation::kReviseReplica, Operation::kPrune}));
  scripted.changes.Publish(ChangeOf(kDeployments, Operation::kInterpretHealth));
  CHECK(Queued().empty());
  scripted.changes.Publish(ChangeOf(kConfigMaps, Operation::kPrune));
  CHECK(Queued() == Names{"ns/config"});
}

TEST_CASE_METHOD(Fixture, "bindings that came after the loop are queued, those that went are not") {
  works::RequeueBindings(scripted, Of(api::ResourceBindings(), {Operation::kRetain}));
  PutCached(api::ResourceBindings(), Binding("late", kDeployments));
  server->Erase(api::ResourceBindings(), {"ns", "web"});
  REQUIRE(tests::Eventually([&] {
    return cluster.Find(api::ResourceBindings(), {"ns", "web"}) == nullptr;
  }));
  scripted.changes.Publish(ChangeOf(kDeployments, Operation::kRetain));
  CHECK(Queued() == Names{"ns/late", "ns/shop"});
}

TEST_CASE_METHOD(Fixture, "a loop over some bindings has only those queued") {
  works::RuleRequeue requeue = Of(api::ResourceBindings(), {Operation::kInterpretDependency});
  requeue.only = [](const kube::Object& binding) { return binding.name() != "shop"; };
  works::RequeueBindings(scripted, requeue);
  scripted.changes.Publish(ChangeOf(kDeployments, Operation::kInterpretDependency));
  CHECK(Queued() == Names{"ns/web"});
}

TEST_CASE_METHOD(Fixture, "a loop over templates has those of the bindings queued") {
  works::RequeueBindings(scripted, Of(api::ResourceBindings(), {Operation::kInterpretReplica}),
                         [](const kube::Object& binding) {
                           const api::ObjectReference r = api::BindingView(binding).Resource();
                           return kube::Request{.key = r.key(), .gvk = r.gvk()};
                         });
  scripted.changes.Publish(ChangeOf(kDeployments, Operation::kInterpretReplica));
  CHECK(Queued() == Names{"Deployment ns/app-web", "Deployment ns/app-shop"});
}

TEST_CASE_METHOD(Fixture, "every listener hears of a change") {
  kube::WorkQueue other({.name = "other"}, clock);
  works::RequeueBindings(scripted, Of(api::ResourceBindings(), {Operation::kRetain}));
  works::RequeueBindings(scripted,
                         {other, informers.Get(api::ResourceBindings()), {Operation::kPrune}});
  scripted.changes.Publish([](const kube::Gvk&, Operation) { return true; });
  CHECK(Queued() == Names{"ns/web", "ns/shop", "ns/config"});
  CHECK(other.size() == 3);
}

TEST_CASE_METHOD(Fixture, "a Work is queued once when any of its manifests is of the kind") {
  works::RequeueWorks(scripted, Of(api::Works(), {Operation::kRetain}));
  scripted.changes.Publish(ChangeOf(kDeployments, Operation::kRetain));
  CHECK(queue.size() == 2);
  CHECK(Queued() == Names{"karmada-es-m1/web", "karmada-es-m1/both"});
  scripted.changes.Publish(ChangeOf(kDeployments, Operation::kInterpretStatus));
  CHECK(Queued().empty());
}

TEST_CASE_METHOD(Fixture, "a loop over member objects has only the manifests of the kind queued") {
  works::RequeueWorks(scripted, Of(api::Works(), {Operation::kInterpretHealth}),
                      [](const kube::Object& work, const kube::Object& manifest) {
                        return kube::Request{.key = manifest.key(),
                                             .gvk = manifest.gvk(),
                                             .cluster = std::string(work.ns())};
                      });
  scripted.changes.Publish(ChangeOf(kDeployments, Operation::kInterpretHealth));
  CHECK(Queued() == Names{"karmada-es-m1/Deployment ns/app-web-0",
                          "karmada-es-m1/Deployment ns/app-both-1",
                          "karmada-es-m1/Deployment ns/app-both-2"});
}

}  // namespace
