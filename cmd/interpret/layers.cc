#include "cmd/interpret/layers.h"

#include <algorithm>
#include <utility>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "base/status.h"
#include "interpreter/customized/lua_backend.h"
#include "interpreter/customized/shipped.h"

namespace cmd::interpret {
namespace {

using interpreter::Operation;
using interpreter::customized::Customization;
using interpreter::customized::CustomizationSet;
using interpreter::customized::KindOperation;
using interpreter::customized::LuaBackend;

// "apps/v1 Deployment".
std::string KindText(const kube::Gvk& gvk) { return absl::StrCat(gvk.ApiVersion(), " ", gvk.kind); }

// What the set has for a kind, as a reason not to answer another operation.
std::string WithoutRule(const CustomizationSet& set, const kube::Gvk& gvk) {
  std::vector<absl::string_view> names;
  for (const KindOperation& pair : set.Covered()) {
    if (pair.gvk == gvk) names.push_back(interpreter::OperationName(pair.operation));
  }
  if (names.empty()) return absl::StrCat("no customization for ", KindText(gvk));
  return absl::StrCat("customizes only ", absl::StrJoin(names, ", "), " of ", KindText(gvk));
}

}  // namespace

absl::StatusOr<Customization> Layers::ParseOne(const Document& document) {
  Customization customization =
      interpreter::customized::ParseCustomization(kube::Object(document.value));
  for (const auto& problem : customization.problems) {
    // The object is of another kind.
    if (problem.field.empty()) {
      return absl::InvalidArgumentError(absl::StrCat(document.Where(), ": ", problem.ToString()));
    }
  }
  return customization;
}

std::unique_ptr<interpreter::Backend> Layers::NewScripts(
    absl::string_view layer, std::shared_ptr<const CustomizationSet> set) {
  interpreter::customized::LuaBackendOptions options;
  options.layer = layer;
  options.on_run = [this](const lua::Usage& usage) {
    usage_.peak = std::max(usage_.peak, usage.peak_memory);
    usage_.garbage += usage.garbage;
  };
  auto backend = std::make_unique<LuaBackend>(options);
  backend->Replace(set);
  slots_.push_back({layer, backend.get(), "", std::move(set)});
  return backend;
}

absl::StatusOr<std::unique_ptr<Layers>> Layers::Build(const LayerOptions& options,
                                                      ObjectSource& source) {
  auto layers = std::unique_ptr<Layers>(new Layers());
  std::vector<Customization> given;
  for (const std::string& argument : options.customizations) {
    ASSIGN_OR_RETURN(const std::vector<Document> documents,
                     source.Customizations(argument, options.recursive));
    for (const Document& document : documents) {
      ASSIGN_OR_RETURN(Customization customization, ParseOne(document));
      given.push_back(std::move(customization));
      layers->given_.push_back(document);
    }
  }
  std::vector<std::unique_ptr<interpreter::Backend>> backends;
  if (given.empty()) {
    layers->slots_.push_back({interpreter::kCustomizationLayer, nullptr, "none given (-f)"});
  } else {
    backends.push_back(layers->NewScripts(interpreter::kCustomizationLayer,
                                          CustomizationSet::Merge(std::move(given))));
  }
  layers->slots_.push_back(
      {interpreter::kWebhookLayer, nullptr, "webhooks are called by a control plane only"});
  if (options.no_shipped) {
    layers->slots_.push_back({interpreter::kShippedLayer, nullptr, "left out by --no-shipped"});
  } else {
    backends.push_back(layers->NewScripts(
        interpreter::kShippedLayer,
        interpreter::customized::LoadShipped(interpreter::customized::ShippedFiles())));
  }
  if (options.no_native) {
    layers->slots_.push_back({interpreter::kNativeLayer, nullptr, "left out by --no-native"});
  } else {
    backends.push_back(options.upstream_form ? interpreter::NewUpstreamFormBackend(*options.clock)
                                             : interpreter::NewNativeBackend(*options.clock));
    layers->slots_.push_back({interpreter::kNativeLayer, backends.back().get(), ""});
  }
  layers->chain_ = interpreter::NewChain(std::move(backends));
  return layers;
}

std::string Layers::WhyNot(const Slot& slot, const kube::Gvk& gvk, Operation op) const {
  if (slot.backend == nullptr) return slot.absent;
  if (slot.set != nullptr) return WithoutRule(*slot.set, gvk);
  return absl::StrCat("no built-in ", interpreter::OperationName(op), " for ", KindText(gvk));
}

std::vector<Layers::Verdict> Layers::Explain(const kube::Gvk& gvk, Operation op) const {
  std::vector<Verdict> verdicts;
  std::string answering;
  for (const Slot& slot : slots_) {
    Verdict verdict{std::string(slot.layer), "", ""};
    if (slot.backend != nullptr) verdict.rule = slot.backend->RuleOf(gvk, op);
    if (op == Operation::kPrune && slot.layer == interpreter::kNativeLayer) {
      // Not the layer's, but done to every manifest after what a layer prunes.
      verdicts.push_back({verdict.layer, "what every manifest loses", ""});
      continue;
    }
    if (verdict.rule.empty()) {
      verdict.reason = WhyNot(slot, gvk, op);
    } else if (!answering.empty()) {
      verdict.reason = absl::StrCat(verdict.rule, " has a rule, but ", answering, " comes first");
    } else {
      answering = verdict.layer;
    }
    verdicts.push_back(std::move(verdict));
  }
  return verdicts;
}

std::vector<KindOperation> Layers::Covered(absl::string_view layer) const {
  for (const Slot& slot : slots_) {
    if (slot.layer == layer && slot.set != nullptr) return slot.set->Covered();
  }
  return {};
}

void Layers::WarnOfProblems(Console& console) const {
  for (const Slot& slot : slots_) {
    if (slot.set == nullptr) continue;
    for (const auto& [name, problems] : slot.set->problems()) {
      for (const auto& problem : problems) {
        console.err << console.err_colours.Yellow("warning:") << " " << name << ": "
                    << problem.ToString() << "\n";
      }
    }
  }
}

}  // namespace cmd::interpret
