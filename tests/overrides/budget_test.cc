// Policies and objects that an API server accepts must not make override policies work for minutes:
// all overriders of an object and cluster have one budget, and what cannot be recorded is not done.
#include <catch2/catch.hpp>
#include <memory>
#include <string>
#include <vector>

#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "base/status.h"
#include "overrides/apply.h"
#include "overrides/internal/overriders.h"

namespace {

using json::Value;

Value Repeated(const Value& item, int count) { return Value::OfItems(std::vector(count, item)); }

// An object with a list of so many numbers, of a kind that is as large as may be stored.
kube::Object ObjectWith(int numbers) {
  Value root = json::Parse(R"({"apiVersion": "example.io/v1", "kind": "Robot",
                               "metadata": {"namespace": "team", "name": "r"}})")
                   .value();
  root.Set({"spec", "l"}, Repeated(1, numbers));
  return kube::Object(std::move(root));
}

// A policy of the namespace whose rule inserts so many numbers at the beginning of the list.
overrides::PolicyPtr Inserting(const std::string& name, int times) {
  const Value item = Value::Object({{"operator", "add"}, {"path", "/spec/l/0"}, {"value", 0}});
  kube::Object policy =
      kube::Object::Make({"policy.karmada.io", "v1alpha1", "OverridePolicy"}, {"team", name});
  policy.Set({"spec", "overrideRules"},
             Value::Array({Value::Object(
                 {{"overriders", Value::Object({{"plaintext", Repeated(item, times)}})}})}));
  return std::make_shared<const overrides::Policy>(kube::Share(std::move(policy)));
}

overrides::Application Apply(std::vector<overrides::PolicyPtr> policies,
                             const kube::Object& object) {
  const kube::Object cluster(json::Parse(R"({"metadata": {"name": "m1"}})").value());
  return overrides::Apply({.cluster_wide = {}, .of_namespace = std::move(policies)}, object,
                          api::ClusterView(cluster));
}

TEST_CASE("many changes of a large list are made, as long as they are about a second's work") {
  const overrides::Application few = Apply({Inserting("p", 1000)}, ObjectWith(100'000));
  CHECK(few.status.ok());
  CHECK(few.object.spec()["l"].size() == 101'000);

  const overrides::Application many = Apply({Inserting("p", 4000)}, ObjectWith(100'000));
  REQUIRE(many.failed != nullptr);
  CHECK(many.failed->name() == "p");
  CHECK(base::IsTerminal(many.status));
  INFO(many.status);
  CHECK(absl::StartsWith(many.status.message(), "spec.overrideRules[0].overriders.plaintext[3"));
  CHECK(absl::StrContains(many.status.message(), "too much work"));
}

TEST_CASE("the policies of a namespace have one budget together") {
  CHECK(Apply({Inserting("a", 2000)}, ObjectWith(100'000)).status.ok());
  const overrides::Application both =
      Apply({Inserting("a", 2000), Inserting("b", 2000)}, ObjectWith(100'000));
  REQUIRE(both.failed != nullptr);
  CHECK(both.failed->name() == "b");
  CHECK(base::IsTerminal(both.status));
}

TEST_CASE("what a Work cannot record is not carried out") {
  // Each of them can be recorded, both together cannot.
  const std::vector<overrides::PolicyPtr> policies = {Inserting("a", 3000), Inserting("b", 3000)};
  CHECK(Apply({policies[0]}, ObjectWith(1)).status.ok());
  CHECK(Apply({policies[1]}, ObjectWith(1)).status.ok());
  const overrides::Application both = Apply(policies, ObjectWith(1));
  REQUIRE(both.failed != nullptr);
  CHECK(both.failed->name() == "b");
  CHECK(base::IsTerminal(both.status));
  CHECK(both.status.message() ==
        "spec.overrideRules[0].overriders: the overriders for one object and cluster are recorded "
        "in annotations of its Work, which take 262144 bytes together; with this rule they would "
        "be longer");
}

TEST_CASE("the items of a plaintext list are one patch, of which only the result counts") {
  const auto status = [](const char* plaintext) {
    overrides::Draft draft{ObjectWith(1).root()};
    return overrides::ApplyOverriders(
        Value::Object({{"plaintext", json::Parse(plaintext).value()}}), "f", draft);
  };
  CHECK(status(R"([{"operator": "remove", "path": "/kind"},
                   {"operator": "add", "path": "/kind", "value": "Robot"}])")
            .ok());
  CHECK(status(R"([{"operator": "add", "path": "/spec/a", "value": 1},
                   {"operator": "remove", "path": "/kind"}])")
            .message() == "f.plaintext[1]: the result has no kind");
}

TEST_CASE("an overrider after another one changes the object in its place") {
  const Value overriders = json::Parse(R"({"plaintext": [
      {"operator": "add", "path": "/spec/l/-", "value": 2},
      {"operator": "replace", "path": "/spec/l/0", "value": 3}]})")
                               .value();
  const kube::Object object = ObjectWith(100'000);
  overrides::Draft draft{object.root()};
  REQUIRE(overrides::ApplyOverriders(overriders, "f", draft).ok());
  const Value* const items = draft.root["spec"]["l"].items().data();
  REQUIRE(draft.Patch(Value::Array({overrides::Operation("replace", "/spec/l/1", 4)})).ok());
  CHECK(draft.root["spec"]["l"].items().data() == items);
  CHECK(object.spec()["l"].size() == 100'000);
}

// What one overrider of each kind may do is little, and thousands of them fit into a policy.
TEST_CASE("overriders of every kind have the budget together") {
  Value root = json::Parse(R"({"kind": "Pod", "data": {}})").value();
  const Value container = json::Parse(R"({"name": "c", "image": "i", "args": ["a"]})").value();
  root.Set({"spec", "containers"}, Repeated(container, 50'000));
  std::string text = "{";
  for (int i = 0; i < 100'000; ++i) absl::StrAppend(&text, "\"k", i, "\": 1, ");
  root.Set({"data", "f"}, text + "\"l\": 1}");
  const auto [field, overrider] = GENERATE(table<std::string, std::string>({
      {"imageOverrider", R"({"component": "Tag", "operator": "replace", "value": "v"})"},
      {"commandOverrider", R"({"containerName": "other", "operator": "add", "value": ["x"]})"},
      {"argsOverrider", R"({"containerName": "c", "operator": "remove", "value": ["x"]})"},
      {"fieldOverrider", R"({"fieldPath": "/data/f", "json": [
          {"subPath": "/l", "operator": "replace", "value": 1}]})"},
      {"fieldOverrider", R"({"fieldPath": "/data/f", "yaml": [
          {"subPath": "/l", "operator": "replace", "value": 1}]})"},
  }));
  INFO(overrider);
  const Value item = json::Parse(overrider).value();
  overrides::Draft one{root};
  CHECK(overrides::ApplyOverriders(Value::Object({{field, Value::Array({item})}}), "f", one).ok());
  overrides::Draft many{root};
  const absl::Status status =
      overrides::ApplyOverriders(Value::Object({{field, Repeated(item, 3000)}}), "f", many);
  INFO(status);
  CHECK(absl::IsResourceExhausted(status));
  CHECK(absl::StartsWith(status.message(), absl::StrCat("f.", field, "[")));
}

}  // namespace
