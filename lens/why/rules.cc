#include "lens/why/rules.h"

#include <utility>

#include "api/resources.h"
#include "interpreter/customized/customization.h"
#include "interpreter/customized/lua_backend.h"
#include "interpreter/customized/shipped.h"
#include "interpreter/webhook/configuration.h"

namespace lens::why {

using interpreter::Operation;
using interpreter::customized::Customization;
using interpreter::customized::CustomizationSet;
using interpreter::customized::LuaBackend;
using interpreter::webhook::Hook;

namespace {

std::unique_ptr<interpreter::Backend> Scripts(absl::string_view layer,
                                              std::shared_ptr<const CustomizationSet> set) {
  interpreter::customized::LuaBackendOptions options;
  options.layer = layer;
  // A question is asked once or a few times, and its answer must not depend on those before it.
  options.has_probation = false;
  auto backend = std::make_unique<LuaBackend>(options);
  backend->Replace(std::move(set));
  return backend;
}

// The scripts that this program ships are the same for every control plane, and are read once.
std::shared_ptr<const CustomizationSet> Shipped() {
  static const auto& shipped = *new std::shared_ptr<const CustomizationSet>(
      interpreter::customized::LoadShipped(interpreter::customized::ShippedFiles()));
  return shipped;
}

}  // namespace

Rules::Rules(const std::vector<kube::ObjectPtr>& configurations,
             const interpreter::customized::MergeOptions& merge) {
  std::vector<Customization> customizations;
  std::vector<Hook> hooks;
  for (const kube::ObjectPtr& object : configurations) {
    if (object->gvk() == api::InterpreterCustomizations().gvk) {
      customizations.push_back(interpreter::customized::ParseCustomization(*object));
    } else if (object->gvk() == api::InterpreterWebhookConfigurations().gvk ||
               object->gvk() == api::ExploringWebhookConfigurations().gvk) {
      for (Hook& hook : interpreter::webhook::ReadConfiguration(*object).hooks) {
        hooks.push_back(std::move(hook));
      }
    }
  }
  std::vector<std::unique_ptr<interpreter::Backend>> layers;
  layers.push_back(Scripts(interpreter::kCustomizationLayer,
                           CustomizationSet::Merge(std::move(customizations), merge)));
  layers.push_back(Scripts(interpreter::kShippedLayer, Shipped()));
  layers.push_back(interpreter::NewNativeBackend());
  chain_ = interpreter::NewChain(std::move(layers));
  hooks_ = std::make_unique<interpreter::webhook::HookSet>(std::move(hooks));
}

interpreter::RuleName Rules::RuleFor(const kube::Gvk& gvk, Operation op) const {
  const std::vector<interpreter::RuleName> rules = chain_->RulesFor(gvk, op);
  if (!rules.empty() && rules[0].layer == interpreter::kCustomizationLayer) return rules[0];
  if (const Hook* hook = hooks_->Find(gvk, op)) {
    return {std::string(interpreter::kWebhookLayer), hook->uid};
  }
  return rules.empty() ? interpreter::RuleName() : rules[0];
}

bool Rules::IsAnsweredByWebhook(const kube::Gvk& gvk, Operation op) const {
  return RuleFor(gvk, op).layer == interpreter::kWebhookLayer;
}

}  // namespace lens::why
