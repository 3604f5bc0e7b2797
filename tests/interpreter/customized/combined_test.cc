// Customizations that are combined: several targets, wildcards, several that retain.
#include <catch2/catch.hpp>
#include <string>
#include <vector>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "interpreter/customized/lua_backend.h"
#include "tests/interpreter/customized/scripts_fixture.h"

namespace {

using interpreter::Operation;
using interpreter::customized::AnswersDiffer;
using interpreter::customized::ChangedRules;
using interpreter::customized::Customization;
using interpreter::customized::CustomizationSet;
using interpreter::customized::KindOperation;
using interpreter::customized::LuaBackend;
using interpreter::customized::ScriptRule;
using tests::Also;
using tests::CombinedSetOf;
using tests::Customize;
using tests::kWidget;
using tests::SetOf;
using tests::Widget;

const kube::Gvk kGadget{"example.io", "v1", "Gadget"};
const kube::Gvk kWidgetV2{"example.io", "v2", "Widget"};
const kube::Gvk kGadgetV2{"example.io", "v2", "Gadget"};
const kube::Gvk kOther{"other.io", "v1", "Other"};
const kube::Gvk kAnyWidget{"example.io", "*", "Widget"};
const kube::Gvk kAnyOfV1{"example.io", "v1", "*"};
const kube::Gvk kAnything{"example.io", "*", "*"};
constexpr Operation kHealth = Operation::kInterpretHealth;

// Returns the names of the customizations that answer: "a,b".
std::string Answering(const CustomizationSet& set, const kube::Gvk& gvk, Operation op = kHealth) {
  return absl::StrJoin(set.RulesFor(gvk, op), ",", [](std::string* out, const ScriptRule& rule) {
    out->append(rule.customization);
  });
}

// A customization of Others and, in additional targets, of further kinds. It has its name in its
// script, so that no two of them answer alike.
Customization Healthy(const std::string& name, std::vector<kube::Gvk> also) {
  return Also(
      Customize(name,
                {{"healthInterpretation",
                  absl::StrCat("function InterpretHealth(o) return true, '", name, "' end")}},
                {"other.io", "v1", absl::StrCat("Of", name)}),
      std::move(also));
}

// Appends the name of the customization to the field `by` of the desired object.
Customization Retaining(const std::string& name, const kube::Gvk& target = kWidget) {
  return Customize(name,
                   {{"retention", absl::StrCat("function Retain(desired, observed)\n",
                                               "  desired.by = (desired.by or '') .. '", name,
                                               "' .. observed.seen\n  return desired\nend")}},
                   target);
}

std::string Retained(const LuaBackend& backend) {
  const auto result = backend.Retain(Widget(), Widget(R"({"seen": "!"})"));
  if (!result.ok()) return absl::StrCat("error: ", result.status().message());
  return result->root()["by"].ToString();
}

}  // namespace

TEST_CASE("Combined: all customizations of a kind retain, in the order of their names") {
  LuaBackend backend({});
  backend.Replace(CombinedSetOf(Retaining("20-late"), Retaining("10-early")));
  CHECK(Retained(backend) == "10-early!20-late!");
  CHECK(backend.RuleOf(kWidget, Operation::kRetain) == "10-early,20-late");
  CHECK(backend.set()->problems().empty());
}

TEST_CASE("Combined: retention is in the order of names whatever the targets are") {
  LuaBackend backend({});
  backend.Replace(CombinedSetOf(Retaining("b"), Also(Retaining("a", kOther), {kAnything}),
                                Also(Retaining("c", kOther), {kAnyWidget, kWidget})));
  CHECK(Retained(backend) == "a!b!c!");
}

TEST_CASE("Combined: a retention that cannot answer is left out, and reported, while others can") {
  const auto broken = Customize("b", {{"retention", "=="}});
  LuaBackend backend({});
  backend.Replace(CombinedSetOf(Retaining("a"), broken, Retaining("c")));
  CHECK(Retained(backend) == "a!c!");
  REQUIRE(backend.set()->problems().at("b").size() == 2);
  CHECK(backend.set()->problems().at("b")[1].ToString() ==
        "spec.customizations.retention: not used, it cannot answer and a answers instead for "
        "example.io/v1, Kind=Widget");
  backend.Replace(CombinedSetOf(Customize("a", {{"retention", "=="}}), Retaining("c")));
  CHECK(Retained(backend) == "c!");
  CHECK(backend.set()->problems().at("a").size() == 2);
  backend.Replace(CombinedSetOf(broken));
  CHECK_THAT(Retained(backend), Catch::StartsWith("error: b/retention:1: "));
}

TEST_CASE("Combined: a retention that fails on an object fails the whole answer") {
  LuaBackend backend({});
  const auto fails = Customize("b", {{"retention", "function Retain(d, o) error('no') end"}});
  backend.Replace(CombinedSetOf(Retaining("a"), fails, Retaining("c")));
  CHECK_THAT(Retained(backend), Catch::StartsWith("error: b/retention:1: "));
  const auto nothing = Customize("b", {{"retention", "function Retain(d, o) end"}});
  backend.Replace(CombinedSetOf(Retaining("a"), nothing, Retaining("c")));
  CHECK_THAT(Retained(backend), Catch::StartsWith("error: b/retention:1: in Retain"));
}

TEST_CASE("Combined: dependencies of all targets add up") {
  const auto needs = [](const std::string& name) {
    return Customize(
        name,
        {{"dependencyInterpretation",
          absl::StrCat("function GetDependencies(o) return {{apiVersion = 'v1', ",
                       "kind = 'Secret', namespace = 'n', name = '", name, "'}} end")}},
        name == "a" ? kWidget : kOther);
  };
  LuaBackend backend({});
  backend.Replace(
      CombinedSetOf(needs("a"), Also(needs("b"), {kWidget}), Also(needs("c"), {kAnything})));
  const json::Value found = backend.GetDependencies(Widget()).value();
  REQUIRE(found.size() == 3);
  for (size_t i = 0; i < 3; ++i) CHECK(found.At(i)["name"].AsString() == std::string(1, "abc"[i]));
  CHECK(backend.GetDependencies(kube::Object::Make(kGadget, {"n", "g"})).value().size() == 1);
}

TEST_CASE("Combined: a customization answers for each of its targets") {
  const auto set = CombinedSetOf(Healthy("a", {kWidget, kGadget, kWidget}));
  CHECK(Answering(*set, kWidget) == "a");
  CHECK(Answering(*set, kGadget) == "a");
  CHECK(Answering(*set, {"other.io", "v1", "Ofa"}) == "a");
  CHECK(Answering(*set, kWidgetV2) == "");
  CHECK(set->Covered().size() == 3);
  CHECK(set->problems().empty());
}

TEST_CASE("Combined: the most exact target answers, whatever the names") {
  const auto set = CombinedSetOf(Healthy("a", {kAnything}), Healthy("b", {kAnyOfV1}),
                                 Healthy("c", {kAnyWidget}), Healthy("d", {kGadget}));
  CHECK(Answering(*set, kGadget) == "d");
  CHECK(Answering(*set, kWidget) == "c");  // Where any version and any kind meet.
  CHECK(Answering(*set, kWidgetV2) == "c");
  CHECK(Answering(*set, {"example.io", "v1", "Thing"}) == "b");
  CHECK(Answering(*set, kGadgetV2) == "a");
  CHECK(Answering(*set, kOther) == "");
  CHECK(set->problems().empty());
  // Other operations of the same kinds.
  CHECK(Answering(*set, kGadget, Operation::kRetain) == "");
}

TEST_CASE("Combined: operations without a script of the exact target are those of a wildcard") {
  const auto set = CombinedSetOf(Customize("b", {{"retention", "function Retain(a, b) end"}}),
                                 Healthy("a", {kAnything}));
  CHECK(Answering(*set, kWidget) == "a");
  CHECK(Answering(*set, kWidget, Operation::kRetain) == "b");
}

TEST_CASE("Combined: a script that cannot answer makes room for a wildcard") {
  const auto set =
      CombinedSetOf(Customize("a", {{"healthInterpretation", "=="}}), Healthy("b", {kAnything}));
  CHECK(Answering(*set, kWidget) == "b");
  CHECK_THAT(set->problems().at("a").back().message,
             Catch::StartsWith("not used, it cannot answer and b answers instead"));
}

TEST_CASE("Combined: two customizations of the same target are a problem once, not per kind") {
  const auto set = CombinedSetOf(Healthy("a", {kAnything}), Healthy("b", {kAnything}),
                                 Customize("c", {{"retention", "function Retain(a, b) end"}}));
  REQUIRE(set->problems().size() == 1);
  REQUIRE(set->problems().at("b").size() == 1);
  CHECK(set->problems().at("b")[0].message == "not used, a comes first for example.io/*, Kind=*");
  CHECK(Answering(*set, kWidget) == "a");
}

TEST_CASE("Combined: a wildcard in spec.target means nothing, as without") {
  const auto set = CombinedSetOf(Customize(
      "a", {{"healthInterpretation", "function InterpretHealth(o) return true end"}}, kAnything));
  CHECK(Answering(*set, kWidget) == "");
}

TEST_CASE("Combined: what a change of a wildcard touches are the kinds it answers for") {
  const auto before = CombinedSetOf(Healthy("a", {kAnyOfV1}), Healthy("d", {kGadget}));
  const auto after = CombinedSetOf(Healthy("b", {kAnyOfV1}), Healthy("d", {kGadget}));
  const auto differ = [&](const kube::Gvk& gvk) {
    return AnswersDiffer(before.get(), after.get(), {gvk, kHealth});
  };
  CHECK(differ(kWidget));
  CHECK_FALSE(differ(kGadget));
  CHECK_FALSE(differ(kWidgetV2));
  CHECK_FALSE(ChangedRules(before.get(), after.get()).empty());
  CHECK(ChangedRules(before.get(), before.get()).empty());
  CHECK_FALSE(*before == *after);
  const auto gone = CombinedSetOf(Healthy("d", {kGadget}));
  CHECK(AnswersDiffer(before.get(), gone.get(), {kWidget, kHealth}));
  CHECK_FALSE(AnswersDiffer(before.get(), gone.get(), {kGadget, kHealth}));
}

TEST_CASE("Combined: the order of retention is a part of the answer") {
  const auto rename = [](const std::string& from, const std::string& name) {
    Customization renamed = Retaining(from);
    renamed.name = name;
    return renamed;
  };
  const auto before = CombinedSetOf(Retaining("a"), Retaining("b"));
  const auto after = CombinedSetOf(rename("a", "z"), Retaining("b"));
  const std::vector<KindOperation> changed = ChangedRules(before.get(), after.get());
  REQUIRE(changed.size() == 1);
  CHECK(changed[0] == KindOperation{kWidget, Operation::kRetain});
}

TEST_CASE("Without the gate additional targets do not count, which is a problem, and one retains") {
  LuaBackend backend({});
  backend.Replace(SetOf(Also(Retaining("a"), {kGadget, kAnything}), Retaining("b")));
  CHECK(Retained(backend) == "a!");
  CHECK_FALSE(backend.Has(kGadget, Operation::kRetain));
  CHECK_FALSE(backend.Has(kWidgetV2, Operation::kRetain));
  CHECK(backend.RuleOf(kWidget, Operation::kRetain) == "a");
  const auto& problems = backend.set()->problems();
  REQUIRE(problems.at("a").size() == 1);
  CHECK(problems.at("a")[0].ToString() ==
        "spec.additionalTargets: has no effect without the feature gate CombinedCustomizations");
  REQUIRE(problems.at("b").size() == 1);
  CHECK_THAT(problems.at("b")[0].message, Catch::StartsWith("not used, a comes first"));
}
