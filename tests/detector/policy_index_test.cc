#include "detector/policy_index.h"

#include <algorithm>
#include <catch2/catch.hpp>
#include <ctime>
#include <memory>
#include <random>
#include <string>
#include <vector>

#include "absl/strings/str_cat.h"
#include "api/policy.h"
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
  // The index removes its handler from the informer.
  ~Fixture() override { index.reset(); }

  // `selector` has neither apiVersion nor kind.
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
  // Returns the name of the policy chosen for Deployment web with label app=web.
  std::string Best(const char* ns = "ns") const {
    const kube::ObjectPtr best = index->BestFor(ns, Parse(R"({"apiVersion": "apps/v1",
        "kind": "Deployment", "metadata": {"name": "web", "namespace": "ns",
                                           "labels": {"app": "web"}}})"));
    return best == nullptr ? "none" : std::string(best->name());
  }
  // Waits until this policy is chosen: handlers are called after the cache has changed.
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

TEST_CASE_METHOD(Fixture, "of equal policies the one with the smaller name wins") {
  Put("b", 2);
  Put("a", 2);
  CHECK(Chooses("a"));
  Put("a", 1);
  CHECK(Chooses("b"));
}

TEST_CASE_METHOD(Fixture, "a policy is ranked by the best of its selectors") {
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

TEST_CASE_METHOD(Fixture, "the policies that select a kind are found, in every namespace") {
  Put("all", 0);
  Put("named", 0, kByName, "other");
  Put("sets", 0, R"({"kind": "StatefulSet"})");
  const auto selecting = [&](const char* kind) {
    std::vector<std::string> names;
    for (const kube::ObjectPtr& policy : index->Selecting({"apps", "v1", kind})) {
      names.emplace_back(policy->name());
    }
    std::sort(names.begin(), names.end());
    return names;
  };
  CHECK(Eventually([&] {
    return selecting("StatefulSet") == std::vector<std::string>{"sets"} &&
           selecting("Deployment") == std::vector<std::string>{"all", "named"};
  }));
  CHECK(selecting("DaemonSet").empty());
}

TEST_CASE_METHOD(Fixture, "a policy that is being deleted or gone is not chosen") {
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

TEST_CASE_METHOD(Fixture, "a changed policy is matched by its present selectors") {
  Put("a", 0, R"({"name": "other"})");
  CHECK(Best() == "none");
  Put("a", 0, kByName);
  CHECK(Chooses("a"));
}

// Computes the result of BestFor by looking at every policy.
kube::ObjectPtr BestOfAll(std::vector<kube::ObjectPtr> policies, const kube::Object& object) {
  std::sort(policies.begin(), policies.end(),
            [](const auto& a, const auto& b) { return a->name() < b->name(); });
  kube::ObjectPtr best;
  std::pair<int64_t, api::SelectorMatch> best_rank;
  for (const kube::ObjectPtr& policy : policies) {
    const api::PolicyView view(*policy);
    const std::pair rank(view.Priority(), api::BestMatch(view.ResourceSelectors(), object));
    if (policy->IsDeleting() || rank.second == api::SelectorMatch::kNone) continue;
    if (best != nullptr && rank <= best_rank) continue;
    best = policy;
    best_rank = rank;
  }
  return best;
}

kube::Object Deployment(const std::string& name, const std::string& app) {
  kube::Object object = kube::Object::Make({"apps", "v1", "Deployment"}, {"ns", name});
  object.SetLabel("app", app);
  return object;
}

TEST_CASE_METHOD(Fixture, "whatever policies come, change and go, the best of all is chosen") {
  std::mt19937 random(7);  // NOLINT: the same walk each time.
  const auto pick = [&](int n) { return static_cast<int>(random() % static_cast<unsigned>(n)); };
  const char* const selectors[] = {"{}",
                                   R"({"name": "a"})",
                                   R"({"name": "b"})",
                                   R"({"labelSelector": {"matchLabels": {"app": "x"}}})",
                                   R"({"labelSelector": {"matchLabels": {"app": "y"}}})",
                                   R"({"kind": "StatefulSet"})"};
  for (int step = 0; step < 300; ++step) {
    const std::string name = absl::StrCat("p", pick(12));
    if (pick(4) == 0) {
      server->Erase(api::PropagationPolicies(), {"ns", name});
    } else {
      kube::Object policy = kube::Object::Make(api::PropagationPolicies().gvk, {"ns", name});
      json::Value list = json::Value::Array();
      for (int i = 0; i <= pick(3); ++i) {
        json::Value selector = Json(selectors[pick(6)]);
        selector.Set("apiVersion", "apps/v1");
        if (!selector.Has("kind")) selector.Set("kind", "Deployment");
        list.Append(std::move(selector));
      }
      policy.Set({"spec", "resourceSelectors"}, std::move(list));
      policy.Set({"spec", "priority"}, pick(3) - 1);
      PutCached(api::PropagationPolicies(), policy);
    }
    if (step % 10 != 9) continue;
    for (const char* named : {"a", "b", "c"}) {
      for (const char* app : {"x", "y", "z"}) {
        const kube::Object object = Deployment(named, app);
        CHECK(Eventually([&] {
          const kube::ObjectPtr wanted =
              BestOfAll(informers.Get(api::PropagationPolicies())->store().List(), object);
          return index->BestFor("ns", object) == wanted;
        }));
      }
    }
  }
}

TEST_CASE_METHOD(Fixture,
                 "a policy is matched by its selectors, whether or not the index contains it") {
  Put("a", 0, kByName);
  REQUIRE(Chooses("a"));
  const kube::ObjectPtr known = index->Find({"ns", "a"});
  REQUIRE(known != nullptr);
  CHECK(index->Matches(*known, Deployment("web", "")));
  CHECK_FALSE(index->Matches(*known, Deployment("other", "")));
  kube::Object newer = *known;
  newer.Set({"metadata", "resourceVersion"}, "99999");
  newer.Set({"spec", "resourceSelectors"},
            Json(R"([{"apiVersion": "apps/v1", "kind": "Deployment", "name": "other"}])"));
  CHECK(index->Matches(newer, Deployment("other", "")));
  CHECK_FALSE(index->Matches(newer, Deployment("web", "")));
}

// Puts a policy with `selectors` selectors, each with another name, the last of them "web".
struct ManySelectors : Fixture {
  const kube::Object object = Deployment("web", "web");
  kube::ObjectPtr policy;

  explicit ManySelectors(int selectors) {
    json::Value list = json::Value::Array();
    for (int i = 0; i < selectors; ++i) {
      const std::string name = i + 1 == selectors ? "web" : absl::StrCat("other-", i);
      list.Append(
          json::Value::Object({{"apiVersion", "apps/v1"}, {"kind", "Deployment"}, {"name", name}}));
    }
    kube::Object p = kube::Object::Make(api::PropagationPolicies().gvk, {"ns", "many"});
    p.Set({"spec", "resourceSelectors"}, std::move(list));
    PutCached(api::PropagationPolicies(), p);
    REQUIRE(Chooses("many"));
    policy = index->Find({"ns", "many"});
  }
  double Cost() const {
    const std::clock_t began = std::clock();
    for (int i = 0; i < 2000; ++i) {
      if (!index->Matches(*policy, object)) FAIL("it has to match");
      index->BestFor("ns", object);
    }
    return static_cast<double>(std::max<std::clock_t>(std::clock() - began, 1));
  }
};

TEST_CASE("the number of a policy's selectors does not slow down a look-up") {
  const ManySelectors few(10), many(10000);
  double least = many.Cost() / few.Cost();
  for (int tries = 1; tries < 30 && least >= 5; ++tries) {
    least = std::min(least, many.Cost() / few.Cost());
  }
  CHECK(least < 5);
}

// Holds `policies` policies twice, by name and by kind, that do not match "web", and one that does.
struct Crowd : Fixture {
  const kube::Object object = Deployment("web", "web");

  explicit Crowd(int policies) {
    for (int i = 0; i < policies; ++i) {
      Put(absl::StrCat("by-name-", i), 5, absl::StrCat(R"({"name": "other-)", i, R"("})"));
      Put(absl::StrCat("by-kind-", i), 5, absl::StrCat(R"({"kind": "Other)", i, R"("})"));
    }
    Put("fits", 1);
    REQUIRE(Eventually([&] { return index->BestFor("ns", object) != nullptr; }));
  }
  double Cost() const {
    const std::clock_t began = std::clock();
    for (int i = 0; i < 5000; ++i) index->BestFor("ns", object);
    return static_cast<double>(std::max<std::clock_t>(std::clock() - began, 1));
  }
};

TEST_CASE("policies for other names and kinds do not slow down a look-up") {
  const Crowd few(100), many(800);
  // Looking at all policies would take eight times as long. One measurement that nothing disturbs
  // is enough to show that it does not.
  double least = many.Cost() / few.Cost();
  for (int tries = 1; tries < 30 && least >= 3; ++tries) {
    least = std::min(least, many.Cost() / few.Cost());
  }
  CHECK(least < 3);
}

}  // namespace
