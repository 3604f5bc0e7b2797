// Builds the chain of layers from the rules of a control plane, before or after a change, and asks
// it. A webhook that can be reached from here is called; one behind a Service, and one that fails,
// gives an answer that is unknown, not one that differs. Shipped rules are loaded once for the
// process, since both sides have the same.

#include "cmd/interpret/rule_side.h"

#include <utility>
#include <vector>

#include "absl/strings/str_cat.h"
#include "interpreter/customized/lua_backend.h"
#include "interpreter/customized/shipped.h"

namespace cmd::interpret {
namespace {

using interpreter::Operation;
using interpreter::Question;
using interpreter::customized::CustomizationSet;
using interpreter::customized::LuaBackend;

std::unique_ptr<LuaBackend> NewScripts(absl::string_view layer,
                                       std::shared_ptr<const CustomizationSet> set) {
  interpreter::customized::LuaBackendOptions options;
  options.layer = layer;
  options.has_probation = false;
  auto backend = std::make_unique<LuaBackend>(options);
  backend->Replace(std::move(set));
  return backend;
}

// Both sides share the shipped rules, because compiling them takes 40 ms.
std::shared_ptr<const CustomizationSet> Shipped() {
  static const auto* const kSet = new std::shared_ptr<const CustomizationSet>(
      interpreter::customized::LoadShipped(interpreter::customized::ShippedFiles()));
  return *kSet;
}

// Returns what the sides compare of an answer: of one to AggregateStatus only the status.
json::Value ComparedPart(const Question& question, JsonAnswer answer) {
  return question.operation == Operation::kAggregateStatus ? answer.result["status"]
                                                           : std::move(answer.result);
}

// Returns what loops assume for a kind without a rule; null for its health.
json::Value WithoutRule(const Question& question) {
  if (question.operation == Operation::kInterpretHealth) return {};
  return ComparedPart(question, ToJson(interpreter::AssumedAnswer(question)));
}

}  // namespace

RuleSide::RuleSide(std::shared_ptr<const CustomizationSet> customizations, const Webhooks& hooks)
    : hooks_(hooks.hooks) {
  std::vector<std::unique_ptr<interpreter::Backend>> layers;
  layers.push_back(NewScripts(interpreter::kCustomizationLayer, std::move(customizations)));
  layers.push_back(NewWebhookLayer(
      hooks, [this](const interpreter::webhook::CallRecord& call, const absl::Status& status) {
        if (!status.ok()) {
          failed_hook_ = absl::StrCat("webhook ", call.hook.uid, ": ", status.message());
        }
      }));
  layers.push_back(NewScripts(interpreter::kShippedLayer, Shipped()));
  layers.push_back(interpreter::NewNativeBackend());
  chain_ = interpreter::NewChain(std::move(layers));
}

std::string RuleSide::WhyUnknown(const Question& question,
                                 const interpreter::RuleName& rule) const {
  if (rule.layer != interpreter::kWebhookLayer) return "";
  const auto* hook = hooks_->Find(question.object.gvk(), question.operation);
  if (hook == nullptr || !hook->client.service.has_value()) return "";
  return absl::StrCat("webhook ", hook->uid, " is behind the Service ", hook->client.service->ns,
                      "/", hook->client.service->name, ", which only the control plane can reach");
}

SideAnswer RuleSide::Ask(const Question& question) {
  const std::vector<interpreter::RuleName> rules =
      chain_->RulesFor(question.object.gvk(), question.operation);
  SideAnswer answer;
  if (rules.empty()) {
    answer.value = WithoutRule(question);
    return answer;
  }
  answer.rule = absl::StrCat(rules.front().layer, " ", rules.front().name);
  answer.unknown = WhyUnknown(question, rules.front());
  if (!answer.unknown.empty()) return answer;
  failed_hook_.reset();
  absl::StatusOr<JsonAnswer> asked = AskForResult(*chain_, question);
  if (failed_hook_.has_value()) {
    answer.unknown = *std::exchange(failed_hook_, std::nullopt);
  } else if (!asked.ok()) {
    answer.error = std::string(asked.status().message());
  } else {
    answer.value = ComparedPart(question, *std::move(asked));
  }
  return answer;
}

}  // namespace cmd::interpret
