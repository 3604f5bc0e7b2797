// Which configurations are refused, and what is allowed although it is broken.
#include "interpreter/check/admission_review.h"

#include <catch2/catch.hpp>
#include <string>
#include <vector>

#include "absl/strings/str_cat.h"
#include "api/resources.h"
#include "interpreter/customized/customization.h"

namespace {

using Catch::Contains;
using interpreter::check::ReviewAdmission;

kube::Object Customization(const std::string& name, const std::string& script) {
  kube::Object object = kube::Object::Make(api::InterpreterCustomizations().gvk, {"", name});
  object.Set({"spec", "target"},
             json::Value::Object({{"apiVersion", "example.io/v1"}, {"kind", "Widget"}}));
  object.Set({"spec", "customizations", "healthInterpretation", "luaScript"}, script);
  return object;
}

constexpr char kFine[] = "function InterpretHealth(observedObj) return true end";

json::Value Review(const std::string& operation, const kube::Object& object,
                   const kube::Object& before = kube::Object()) {
  return json::Value::Object({{"apiVersion", "admission.k8s.io/v1"},
                              {"kind", "AdmissionReview"},
                              {"request", json::Value::Object({{"uid", "u-1"},
                                                               {"operation", operation},
                                                               {"object", object.root()},
                                                               {"oldObject", before.root()}})}});
}

// Returns the response to a review.
json::Value Response(const json::Value& review, const std::vector<kube::ObjectPtr>& others = {}) {
  const auto answer = ReviewAdmission(review, others);
  REQUIRE(answer.ok());
  CHECK((*answer)["apiVersion"].AsString() == "admission.k8s.io/v1");
  CHECK((*answer)["kind"].AsString() == "AdmissionReview");
  CHECK((*answer)["response"]["uid"].AsString() == "u-1");
  return (*answer)["response"];
}

bool Allows(const json::Value& review) { return Response(review)["allowed"].AsBool(); }

}  // namespace

TEST_CASE("Admission: a customization that works is allowed, without a word") {
  const json::Value response = Response(Review("CREATE", Customization("w", kFine)));
  CHECK(response["allowed"].AsBool());
  CHECK_FALSE(response.Has("warnings"));
  CHECK_FALSE(response.Has("status"));
}

TEST_CASE("Admission: what check proves broken is refused with all its messages") {
  kube::Object broken =
      Customization("w", "function InterpretHealth(observedObj)\n  return conditon.x\nend");
  broken.Set({"spec", "customizations", "retention", "luaScript"}, "function Retian(a, b) end");
  const json::Value response = Response(Review("CREATE", broken));
  CHECK_FALSE(response["allowed"].AsBool(true));
  CHECK(response["status"]["code"].AsInt() == 422);
  const std::string message = response["status"]["message"].ToString();
  CHECK_THAT(message, Contains("spec.customizations.healthInterpretation.luaScript: line 2 of the "
                               "script: the global conditon does not exist: it is nil"));
  CHECK_THAT(message, Contains("spec.customizations.retention.luaScript: ") && Contains("Retian"));
  CHECK_FALSE(Allows(Review("UPDATE", broken, Customization("w", kFine))));
  CHECK_FALSE(Allows(Review("CREATE", Customization("w", "(("))));
}

TEST_CASE("Admission: webhook configurations are refused in the words of upstream's admission") {
  kube::Object hooks = kube::Object::Make(api::InterpreterWebhookConfigurations().gvk, {"", "h"});
  hooks.Set({"webhooks"}, json::Value::Array({json::Value::Object({{"name", "w.example.com"}})}));
  const json::Value response = Response(Review("CREATE", hooks));
  CHECK_FALSE(response["allowed"].AsBool(true));
  CHECK_THAT(response["status"]["message"].ToString(), Contains("webhooks[0].clientConfig"));
}

TEST_CASE("Admission: nothing is stuck because it is broken") {
  const kube::Object broken = Customization("w", "((");
  CHECK(Allows(Review("DELETE", kube::Object(), broken)));
  CHECK(Allows(Review("CONNECT", broken)));
  // Labels of an object that was there before.
  kube::Object labelled = broken;
  labelled.SetLabel("team", "a");
  CHECK(Allows(Review("UPDATE", labelled, broken)));
  kube::Object deleting = Customization("w", "(((");
  deleting.Set({"metadata", "deletionTimestamp"}, "2026-01-01T00:00:00Z");
  CHECK(Allows(Review("UPDATE", deleting, broken)));
  // Other kinds, and objects whose name comes later.
  CHECK(Allows(Review("CREATE", kube::Object::Make({"", "v1", "ConfigMap"}, {"n", "c"}))));
  kube::Object generated = Customization("w", kFine);
  generated.Erase({"metadata", "name"});
  generated.Set({"metadata", "generateName"}, "widgets-");
  CHECK(Allows(Review("CREATE", generated)));
}

TEST_CASE(
    "Admission: a script that takes too long to load is a warning, because it proves nothing") {
  const json::Value response =
      Response(Review("CREATE", Customization("w", absl::StrCat("while true do end\n", kFine))));
  CHECK(response["allowed"].AsBool());
  REQUIRE(response["warnings"].size() == 1);
  CHECK_THAT(response["warnings"].At(0).ToString(), Contains("every run fails here"));
}

TEST_CASE("Admission: another customization of the operation is a warning, and so are hints") {
  const std::vector<kube::ObjectPtr> others = {kube::Share(Customization("a", kFine)),
                                               kube::Share(Customization("w", kFine))};
  const json::Value response = Response(Review("CREATE", Customization("w", kFine)), others);
  CHECK(response["allowed"].AsBool());
  REQUIRE(response["warnings"].size() == 1);
  CHECK(response["warnings"].At(0).AsString() ==
        "conflicting with InterpreterOperation(InterpretHealth) of existing "
        "ResourceInterpreterCustomization(a)");
  const json::Value hint = Response(Review(
      "CREATE", Customization("w", "function InterpretHealth(observedObj) x = 1 return true end")));
  CHECK(hint["allowed"].AsBool());
  CHECK_THAT(hint["warnings"].At(0).ToString(), Contains("write local x"));
}

TEST_CASE("Admission: additional targets are a warning where customizations are not combined") {
  kube::Object wide = Customization("w", kFine);
  wide.Set({"spec", "additionalTargets"},
           json::Parse(R"([{"apiVersion": "example.io/*", "kind": "*"}])").value());
  const json::Value response = Response(Review("CREATE", wide));
  CHECK(response["allowed"].AsBool());
  REQUIRE(response["warnings"].size() == 1);
  CHECK(response["warnings"].At(0).AsString() ==
        "spec.additionalTargets: has no effect without the feature gate CombinedCustomizations");
  const auto combined = ReviewAdmission(Review("CREATE", wide), {}, {.combined = true});
  CHECK((*combined)["response"]["allowed"].AsBool());
  CHECK_FALSE((*combined)["response"].Has("warnings"));
  wide.Set({"spec", "additionalTargets"},
           json::Parse(R"([{"apiVersion": "example.io/v1", "kind": "W*"}])").value());
  CHECK_FALSE(Allows(Review("CREATE", wide)));
}

TEST_CASE("Admission: several that retain are a warning only where they are not combined") {
  const auto retaining = [](const std::string& name) {
    kube::Object object = Customization(name, kFine);
    object.Erase({"spec", "customizations", "healthInterpretation"});
    object.Set({"spec", "customizations", "retention", "luaScript"},
               "function Retain(desiredObj, observedObj) return desiredObj end");
    return object;
  };
  const std::vector<kube::ObjectPtr> others = {kube::Share(retaining("a"))};
  const json::Value review = Review("CREATE", retaining("w"));
  CHECK(Response(review, others)["warnings"].size() == 1);
  const auto combined = ReviewAdmission(review, others, {.combined = true});
  CHECK_FALSE((*combined)["response"].Has("warnings"));
}

TEST_CASE("Admission: messages and warnings are bounded") {
  std::string script = "function InterpretHealth(observedObj)\n";
  for (int i = 0; i < 1000; ++i) absl::StrAppend(&script, "  x", i, " = y", i, ".z\n");
  const json::Value response =
      Response(Review("CREATE", Customization("w", absl::StrCat(script, "return true end"))));
  CHECK_FALSE(response["allowed"].AsBool(true));
  CHECK(response["status"]["message"].AsString().size() <= 8192);
  CHECK(response["warnings"].size() == 16);
}

TEST_CASE("Admission: scripts that are much work do not keep a thread for long") {
  SECTION("the token of a mistake stands in its line again and again") {
    std::string script;
    while (script.size() < 1'000'000) script += "a=1 ";
    const json::Value response = Response(Review("CREATE", Customization("w", script + "a a")));
    CHECK_THAT(response["status"]["message"].ToString(), Contains("line 1 of the script"));
  }
  SECTION("many scripts do not end") {
    kube::Object endless = Customization("w", "while true do end");
    for (const interpreter::customized::ScriptField& field :
         interpreter::customized::ScriptFields()) {
      endless.Set({"spec", "customizations", field.name, "luaScript"}, "while true do end");
    }
    std::string warnings;
    const json::Value response = Response(Review("CREATE", endless));
    for (const json::Value& warning : response["warnings"].items()) {
      warnings += warning.ToString();
    }
    CHECK_THAT(warnings, Contains("not checked, because the other scripts have taken too long"));
  }
}

TEST_CASE("Admission: what is no review is an error, not an answer") {
  for (const char* text :
       {"{}", "[]", "1", R"({"apiVersion":"admission.k8s.io/v1beta1","kind":"AdmissionReview"})",
        R"({"apiVersion":"admission.k8s.io/v1","kind":"AdmissionReview"})"}) {
    CHECK(absl::IsInvalidArgument(ReviewAdmission(json::Parse(text).value(), {}).status()));
  }
}
