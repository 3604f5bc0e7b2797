// Many customizations together, and what changes between two sets.
#include <catch2/catch.hpp>
#include <string>
#include <vector>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "tests/interpreter/customized/scripts_fixture.h"

namespace {

using interpreter::Operation;
using interpreter::customized::ChangedRules;
using interpreter::customized::Customization;
using interpreter::customized::CustomizationSet;
using interpreter::customized::KindOperation;
using interpreter::customized::ScriptRule;
using tests::Customize;
using tests::kWidget;
using tests::SetOf;

constexpr char kHealthy[] = "function InterpretHealth(o) return true end";
constexpr char kUnhealthy[] = "function InterpretHealth(o) return false end";
constexpr char kNothing[] = "function GetDependencies(o) return {} end";
const kube::Gvk kGadget{"example.io", "v1", "Gadget"};

// Returns the names of the scripts that answer: "a/healthInterpretation,...".
std::string Answering(const CustomizationSet& set, const kube::Gvk& gvk, Operation op) {
  return absl::StrJoin(set.RulesFor(gvk, op), ",", [](std::string* out, const ScriptRule& rule) {
    out->append(rule.script.ok() ? (*rule.script)->name() : rule.customization + ": broken");
  });
}

// Returns "Widget InterpretHealth; ..."
std::string Changes(const CustomizationSet* before, const CustomizationSet* after) {
  return absl::StrJoin(ChangedRules(before, after), "; ",
                       [](std::string* out, const KindOperation& pair) {
                         absl::StrAppend(out, pair.gvk.kind, " ", OperationName(pair.operation));
                       });
}

}  // namespace

TEST_CASE("the first name with a script for an operation answers, operation by operation") {
  const auto set = SetOf(
      Customize("c", {{"healthInterpretation", kHealthy}, {"retention", "function Retain() end"}}),
      Customize("b", {{"healthInterpretation", kUnhealthy}}),
      Customize("a", {{"healthInterpretation", ""}}));
  CHECK(Answering(*set, kWidget, Operation::kInterpretHealth) == "b/healthInterpretation");
  CHECK(Answering(*set, kWidget, Operation::kRetain) == "c/retention");
  CHECK(Answering(*set, kWidget, Operation::kReviseReplica) == "");
  CHECK(Answering(*set, kGadget, Operation::kInterpretHealth) == "");
  CHECK(Answering(*set, {"example.io", "v2", "Widget"}, Operation::kInterpretHealth) == "");
  CHECK(set->size() == 3);
}

TEST_CASE("a script that loses to another customization is a problem of its own") {
  const auto set = SetOf(Customize("a", {{"healthInterpretation", kHealthy}}),
                         Customize("b", {{"healthInterpretation", kUnhealthy}}),
                         Customize("c", {{"healthInterpretation", kUnhealthy}}, kGadget));
  REQUIRE(set->problems().size() == 1);
  REQUIRE(set->problems().at("b").size() == 1);
  CHECK(set->problems().at("b")[0].ToString() ==
        "spec.customizations.healthInterpretation: not used, a comes first for "
        "example.io/v1, Kind=Widget");
}

TEST_CASE("for dependencies every script answers, in the order of names") {
  const auto set = SetOf(Customize("b", {{"dependencyInterpretation", kNothing}}),
                         Customize("a", {{"dependencyInterpretation", kNothing}}));
  CHECK(Answering(*set, kWidget, Operation::kInterpretDependency) ==
        "a/dependencyInterpretation,b/dependencyInterpretation");
  CHECK(set->problems().empty());
}

TEST_CASE("a broken script answers with its error and leaves the others alone") {
  const auto set =
      SetOf(Customize("a", {{"healthInterpretation", "no lua"}, {"retention", "Retain = nil"}}),
            Customize("b", {{"healthInterpretation", kHealthy}}, kGadget));
  CHECK(Answering(*set, kWidget, Operation::kInterpretHealth) == "a: broken");
  CHECK(Answering(*set, kWidget, Operation::kRetain) == "a/retention");
  CHECK(Answering(*set, kGadget, Operation::kInterpretHealth) == "b/healthInterpretation");
  CHECK(set->problems().count("a") == 1);
}

TEST_CASE("a script that does not compile is passed over for one that does, and both report it") {
  const auto set = SetOf(Customize("a", {{"healthInterpretation", "no lua"}}),
                         Customize("b", {{"healthInterpretation", "=="}}),
                         Customize("c", {{"healthInterpretation", kHealthy}}),
                         Customize("d", {{"healthInterpretation", kUnhealthy}}));
  CHECK(Answering(*set, kWidget, Operation::kInterpretHealth) == "c/healthInterpretation");
  REQUIRE(set->problems().at("a").size() == 2);
  CHECK(set->problems().at("a")[0].field == "spec.customizations.healthInterpretation.luaScript");
  CHECK(set->problems().at("a")[1].ToString() ==
        "spec.customizations.healthInterpretation: not used, it cannot answer and c answers "
        "instead for example.io/v1, Kind=Widget");
  CHECK(set->problems().at("b").size() == 2);
  CHECK(set->problems().count("c") == 0);
  CHECK_THAT(set->problems().at("d")[0].message, Catch::StartsWith("not used, c comes first"));
}

TEST_CASE("a script without the function of its operation is passed over for one that has it") {
  const auto set =
      SetOf(Customize("a", {{"healthInterpretation", "function InterpretHealh() end"}}),
            Customize("b", {{"healthInterpretation", "local function InterpretHealth() end"}}),
            Customize("c", {{"healthInterpretation", kHealthy}}));
  CHECK(Answering(*set, kWidget, Operation::kInterpretHealth) == "c/healthInterpretation");
  REQUIRE(set->problems().at("a").size() == 2);
  CHECK(set->problems().at("a")[0].ToString() ==
        "spec.customizations.healthInterpretation.luaScript: a/healthInterpretation: not found "
        "function InterpretHealth (line 1 defines InterpretHealh)");
  CHECK(set->problems().at("b")[0].message ==
        "b/healthInterpretation: not found function InterpretHealth (the one in line 1 is local)");
  CHECK(set->problems().count("c") == 0);
}

TEST_CASE("a script that may make its function by other means is believed") {
  const auto set =
      SetOf(Customize("a", {{"healthInterpretation", "_G['Interpret' .. 'Health'] = print"}}),
            Customize("b", {{"healthInterpretation", kHealthy}}));
  CHECK(Answering(*set, kWidget, Operation::kInterpretHealth) == "a/healthInterpretation");
}

TEST_CASE("when no script of a kind and operation compiles, the first one answers with its error") {
  const auto set = SetOf(Customize("a", {{"healthInterpretation", "no lua"}}),
                         Customize("b", {{"healthInterpretation", "=="}}));
  CHECK(Answering(*set, kWidget, Operation::kInterpretHealth) == "a: broken");
}

TEST_CASE("for dependencies a script that does not compile is not passed over") {
  const auto set = SetOf(Customize("a", {{"dependencyInterpretation", "no lua"}}),
                         Customize("b", {{"dependencyInterpretation", kNothing}}));
  CHECK(Answering(*set, kWidget, Operation::kInterpretDependency) ==
        "a: broken,b/dependencyInterpretation");
}

TEST_CASE("a customization without a target answers nothing") {
  const auto set = SetOf(Customize("a", {{"healthInterpretation", kHealthy}}, {"", "v1", ""}));
  CHECK(set->Covered().empty());
  CHECK(set->problems().count("a") == 1);
}

TEST_CASE("two sets differ in the pairs whose scripts differ") {
  const auto base = SetOf(Customize("a", {{"healthInterpretation", kHealthy}}),
                          Customize("d", {{"dependencyInterpretation", kNothing}}));
  const auto empty = SetOf();
  CHECK(Changes(base.get(), base.get()) == "");
  CHECK(Changes(nullptr, nullptr) == "");
  CHECK(Changes(nullptr, empty.get()) == "");
  CHECK(Changes(nullptr, base.get()) == "Widget InterpretDependency; Widget InterpretHealth");
  CHECK(Changes(base.get(), empty.get()) == "Widget InterpretDependency; Widget InterpretHealth");

  struct Example {
    std::vector<Customization> after;
    std::string changes;
  };
  const Customization health = Customize("a", {{"healthInterpretation", kHealthy}});
  const Customization dependencies = Customize("d", {{"dependencyInterpretation", kNothing}});
  const Example example = GENERATE_COPY(
      // The same text under another name, from another object.
      Example{{Customize("z", {{"healthInterpretation", kHealthy}}), dependencies}, ""},
      Example{{health, dependencies, Customize("b", {{"healthInterpretation", kUnhealthy}})}, ""},
      Example{{Customize("a", {{"healthInterpretation", kUnhealthy}}), dependencies},
              "Widget InterpretHealth"},
      Example{{Customize("a", {{"healthInterpretation", "no lua"}}), dependencies},
              "Widget InterpretHealth"},
      Example{{health, dependencies, Customize("e", {{"dependencyInterpretation", "-- more\n"}})},
              "Widget InterpretDependency"},
      Example{{health, dependencies, Customize("g", {{"healthInterpretation", kHealthy}}, kGadget)},
              "Gadget InterpretHealth"});
  const auto after = CustomizationSet::Merge(example.after);
  CHECK(Changes(base.get(), after.get()) == example.changes);
  CHECK(Changes(after.get(), base.get()) == example.changes);
}
