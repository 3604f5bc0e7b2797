// Builds a layer of one customization alone and calls each of its functions once. Other layers are
// left out, so that an error or an answer is certainly that of this customization. A function that
// fails is an error; a result that is probably a mistake (another object's name, fields of the
// template that are lost) is reported as well, because the API server or the next pass of a loop
// would show it much later.

#include "cmd/interpret/trial.h"

#include <utility>

#include "absl/strings/str_cat.h"
#include "base/json.h"
#include "cmd/interpret/question_json.h"
#include "cmd/interpret/result_warnings.h"
#include "interpreter/customized/lua_backend.h"

namespace cmd::interpret {
namespace {

using interpreter::Operation;
using interpreter::Question;
using interpreter::customized::Customization;
using interpreter::customized::CustomizationSet;
using interpreter::customized::LuaBackend;
using interpreter::customized::ScriptField;
using Severity = Finding::Severity;

constexpr int64_t kReplicas = 2;
constexpr size_t kMostOfResult = 100;  // In bytes.

// The object plays both parts, the template and the member's object.
Question QuestionOf(Operation op, const kube::Object& object) {
  json::Value item =
      json::Value::Object({{"clusterName", "member1"}, {"applied", true}, {"health", "Healthy"}});
  if (!object.status().is_null()) item.Set("status", object.status());
  return {op, object, object, kReplicas, json::Value::Array({std::move(item)})};
}

// Results are shown in one line each.
std::string Shortened(const json::Value& value) {
  std::string text = json::Write(value);
  if (text.size() <= kMostOfResult) return text;
  size_t end = kMostOfResult;
  while ((text[end] & 0xC0) == 0x80) --end;  // Does not split a UTF-8 character.
  return absl::StrCat(text.substr(0, end), "...");
}

std::string Shown(const JsonAnswer& answer) {
  const std::string result = Shortened(answer.result);
  return answer.message.empty() ? result : absl::StrCat(result, ", ", Shortened(answer.message));
}

// Places a message at the script line that it names, else at the field.
Diagnostic Place(const tool::Document& document, const ScriptField& field, Severity severity,
                 absl::string_view message) {
  if (auto located = LocateError(document, message); located.has_value()) {
    located->finding.severity = severity;
    return *std::move(located);
  }
  return Locate(document, {severity, absl::StrCat("spec.customizations.", field.name), 0, 0, "",
                           std::string(message)});
}

// Returns what is wrong with the identity of an object that an operation returns; "" when it is
// that of the object that was given. Karmada sends the result under the given name.
std::string OtherIdentity(Operation op, const kube::Object& object, const json::Value& result) {
  if (op != Operation::kRetain && op != Operation::kReviseReplica &&
      op != Operation::kAggregateStatus) {
    return "";
  }
  const kube::Object returned(result);
  if (returned.gvk() == object.gvk() && returned.key() == object.key()) return "";
  return absl::StrCat("the result is ", returned.api_version(), " ", returned.Describe(),
                      " and not ", object.api_version(), " ", object.Describe(),
                      ": API servers refuse an object under the name of another");
}

// Returns whether Retain loses what only the template has, as a script does that returns
// observedObj: no change of the template would reach a member.
bool LosesTheTemplate(const LuaBackend& backend, const kube::Object& object) {
  constexpr char kProbe[] = "fieldThatOnlyTheTemplateHas";
  if (!object.spec().is_object()) return false;
  Question question = QuestionOf(Operation::kRetain, object);
  // The template has a field that the member's object lacks: a Retain that starts from the template
  // keeps it.
  question.object.Set({"spec", kProbe}, true);
  const auto retained = interpreter::AnswerAs<kube::Object>(backend.Ask(question));
  return retained.ok() && !retained->spec()[kProbe].AsBool();
}

}  // namespace

Trial TryOn(const tool::Document& document, const kube::Object& object,
            const interpreter::customized::MergeOptions& merge) {
  Trial trial;
  std::vector<std::string> slips;  // Probable mistakes in results of the present run.
  LuaBackend backend({.on_results = [&](const lua::Script& script, Operation op, auto results) {
    for (const std::string& text : WarningsOf(op, results)) {
      slips.push_back(absl::StrCat(interpreter::customized::PlaceOf(script, op), ": ", text));
    }
  }});
  Customization customization =
      interpreter::customized::ParseCustomization(kube::Object(document.value));
  std::vector<Customization> one;
  one.push_back(std::move(customization));
  const auto set = CustomizationSet::Merge(std::move(one), merge);
  backend.Replace(set);
  for (const ScriptField& field : interpreter::customized::ScriptFields()) {
    const auto rules = set->RulesFor(object.gvk(), field.operation);
    if (rules.empty() || !rules.front().script.ok()) continue;
    // They are those of one call.
    slips.clear();
    const auto asked = backend.Ask(QuestionOf(field.operation, object));
    if (!asked.ok()) {
      trial.diagnostics.push_back(
          Place(document, field, Severity::kError, asked.status().message()));
      continue;
    }
    const JsonAnswer answer = ToJson(*asked);
    const std::string other = OtherIdentity(field.operation, object, answer.result);
    if (!other.empty())
      trial.diagnostics.push_back(Place(document, field, Severity::kError, other));
    if (field.operation == Operation::kRetain && LosesTheTemplate(backend, object)) {
      slips.push_back(
          "a field of the template that the member's object lacks is not in the result: changes of "
          "the template would not reach members");
    }
    for (const std::string& slip : slips) {
      trial.diagnostics.push_back(Place(document, field, Severity::kWarning, slip));
    }
    trial.results.push_back(
        absl::StrCat(interpreter::OperationName(field.operation), ": ", Shown(answer)));
  }
  return trial;
}

}  // namespace cmd::interpret
