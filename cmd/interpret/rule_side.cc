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
using interpreter::customized::CustomizationSet;
using interpreter::customized::LuaBackend;

std::unique_ptr<LuaBackend> NewScripts(absl::string_view layer,
                                       std::shared_ptr<const CustomizationSet> set) {
  interpreter::customized::LuaBackendOptions options;
  options.layer = layer;
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

// Returns what loops assume for a kind without a rule.
json::Value WithoutRule(const Invocation& invocation) {
  switch (invocation.op) {
    case Operation::kInterpretReplica:
      return json::Value::Object({{"replica", 0}, {"requirements", json::Value()}});
    case Operation::kReviseReplica:
    case Operation::kRetain:
      return invocation.object.root();
    case Operation::kAggregateStatus:
      return invocation.object.status();
    default:
      return {};  // No components, no dependencies, no health.
  }
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

std::string RuleSide::WhyUnknown(const Invocation& invocation,
                                 const interpreter::RuleName& rule) const {
  if (rule.layer != interpreter::kWebhookLayer) return "";
  const auto* hook = hooks_->Find(invocation.object.gvk(), invocation.op);
  if (hook == nullptr || !hook->client.service.has_value()) return "";
  return absl::StrCat("webhook ", hook->uid, " is behind the Service ", hook->client.service->ns,
                      "/", hook->client.service->name, ", which only the control plane can reach");
}

SideAnswer RuleSide::Ask(const Invocation& invocation) {
  const std::vector<interpreter::RuleName> rules =
      chain_->RulesFor(invocation.object.gvk(), invocation.op);
  SideAnswer answer;
  if (rules.empty()) {
    answer.value = WithoutRule(invocation);
    return answer;
  }
  answer.rule = absl::StrCat(rules.front().layer, " ", rules.front().name);
  answer.unknown = WhyUnknown(invocation, rules.front());
  if (!answer.unknown.empty()) return answer;
  failed_hook_.reset();
  absl::StatusOr<Answer> asked = Invoke(*chain_, invocation);
  if (failed_hook_.has_value()) {
    answer.unknown = *std::exchange(failed_hook_, std::nullopt);
  } else if (!asked.ok()) {
    answer.error = std::string(asked.status().message());
  } else if (invocation.op == Operation::kAggregateStatus) {
    answer.value = asked->result["status"];
  } else {
    answer.value = std::move(asked->result);
  }
  return answer;
}

}  // namespace cmd::interpret
