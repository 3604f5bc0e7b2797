#include "detector/policy_index.h"

#include <catch2/catch.hpp>
#include <memory>
#include <string>

#include "absl/strings/str_cat.h"
#include "api/resources.h"
#include "tests/support/members_fixture.h"

namespace {

using tests::Eventually;
using tests::Json;
using tests::Parse;

struct Fixture : tests::MembersFixture {
  std::optional<detector::PolicyIndex> index;

  Fixture() {
    Sync({api::PropagationPolicies()});
    index.emplace(informers.Get(api::PropagationPolicies()));
  }
  // The index takes its handler off the informer.
  ~Fixture() override { index.reset(); }

  // `selector` without apiVersion and kind.
  void Put(const std::string& name, int priority, const std::string& selector = "{}",
           const std::string& ns = "ns") {
    json::Value selected = Json(selector);
    selected.Set("apiVersion", "apps/v1");
    if (!selected.Has("kind")) selected.Set("kind", "Deployment");
    kube::Object policy = kube::Object::Make(api::PropagationPolicies().gvk, {ns, name});
    policy.Set({"spec", "resourceSelectors"}, json::Value::Array({selected}));
    if (priority != 0) policy.Set({"spec", "priority"}, priority);
    PutCached(api::PropagationPolicies(), policy);
  }
  // The name of the policy chosen for Deployment web, label app=web.
  std::string Best(const char* ns = "ns") const {
    const kube::ObjectPtr best = index->BestFor(ns, Parse(R"({"apiVersion": "apps/v1",
        "kind": "Deployment", "metadata": {"name": "web", "namespace": "ns",
                                           "labels": {"app": "web"}}})"));
    return best == nullptr ? "none" : std::string(best->name());
  }
  // Handlers are called right after the cache has changed.
  bool Chooses(const std::string& name) {
    return Eventually([&] { return Best() == name; });
  }
};

constexpr char kByName[] = R"({"name": "web"})";
constexpr char kByLabel[] = R"({"labelSelector": {"matchLabels": {"app": "web"}}})";

TEST_CASE_METHOD(Fixture, "the better selector wins: name, then labels, then everything") {
  Put("a-all", 0);
  REQUIRE(Chooses("a-all"));
  Put("b-label", 0, kByLabel);
  REQUIRE(Chooses("b-label"));
  Put("c-name", 0, kByName);
  REQUIRE(Chooses("c-name"));
}

TEST_CASE_METHOD(Fixture, "an explicit priority wins over the better selector") {
  Put("by-name", 0, kByName);
  Put("all", 1);
  CHECK(Chooses("all"));
  Put("negative", -1, kByName);
  CHECK(Chooses("all"));
}

TEST_CASE_METHOD(Fixture, "of equals the smaller name wins") {
  Put("b", 2);
  Put("a", 2);
  CHECK(Chooses("a"));
  Put("a", 1);
  CHECK(Chooses("b"));
}

TEST_CASE_METHOD(Fixture, "a policy counts by the best of its selectors") {
  Put("a-label", 0, kByLabel);
  kube::Object many = kube::Object::Make(api::PropagationPolicies().gvk, {"ns", "z-many"});
  many.Set({"spec", "resourceSelectors"}, Json(R"([{"apiVersion": "apps/v1", "kind": "Deployment"},
                    {"apiVersion": "apps/v1", "kind": "Deployment", "name": "web"},
                    {"apiVersion": "apps/v1", "kind": "Deployment", "name": "other"}])"));
  PutCached(api::PropagationPolicies(), many);
  CHECK(Chooses("z-many"));
}

TEST_CASE_METHOD(Fixture, "policies that do not fit are not chosen, whatever their priority") {
  Put("other-name", 9, R"({"name": "other", "labelSelector": {"matchLabels": {"app": "web"}}})");
  Put("other-label", 9, R"({"labelSelector": {"matchLabels": {"app": "db"}}})");
  Put("other-kind", 9, R"({"kind": "StatefulSet"})");
  Put("other-namespace", 9, R"({"namespace": "elsewhere"})");
  Put("broken", 9, R"({"labelSelector": {"matchExpressions": [{"key": "a", "operator": "Is"}]}})");
  Put("fits", 0);
  CHECK(Chooses("fits"));
}

TEST_CASE_METHOD(Fixture, "policies of another namespace do not count") {
  Put("there", 0, kByName, "elsewhere");
  Put("here", 0);
  REQUIRE(Chooses("here"));
  CHECK(Best("nowhere") == "none");
  CHECK(Best("elsewhere") == "there");
}

TEST_CASE_METHOD(Fixture, "a policy on its way out or gone is not chosen") {
  Put("next", 0);
  Put("first", 5);
  REQUIRE(Chooses("first"));
  kube::Object dying = server->Find(api::PropagationPolicies(), {"ns", "first"});
  dying.Set({"metadata", "deletionTimestamp"}, "2024-01-01T00:00:00Z");
  PutCached(api::PropagationPolicies(), dying);
  REQUIRE(Chooses("next"));
  server->Erase(api::PropagationPolicies(), {"ns", "next"});
  REQUIRE(Chooses("none"));
  CHECK(index->Find({"ns", "first"}) != nullptr);
  CHECK(index->Find({"ns", "next"}) == nullptr);
}

TEST_CASE_METHOD(Fixture, "a changed policy is judged by what it says now") {
  Put("a", 0, R"({"name": "other"})");
  CHECK(Best() == "none");
  Put("a", 0, kByName);
  CHECK(Chooses("a"));
}

}  // namespace
