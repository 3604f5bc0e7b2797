// Builds the chain of layers as the controller manager has it, except for what its flags determine
// (controllers/context/interpreter_options.h), in the order customization, webhook, shipped,
// native, and keeps a slot for each of them: a layer that is absent has one, too, so that a trace
// can say why it does not answer. The chain owns the layers; slots point into it.
//
// What a question leaves behind (memory of scripts, warnings, the call of a webhook) is collected
// here by callbacks of the layers until somebody takes it, which also clears it. Hence a question
// and the taking of what belongs to it must not be mixed with others: not thread-safe.

#include "cmd/interpret/layers.h"

#include <algorithm>
#include <utility>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "base/status.h"
#include "cmd/interpret/measurement.h"
#include "cmd/interpret/result_warnings.h"
#include "interpreter/customized/lua_backend.h"
#include "interpreter/customized/shipped.h"
#include "interpreter/webhook/explanation.h"

namespace cmd::interpret {
namespace {

using interpreter::Operation;
using interpreter::customized::Customization;
using interpreter::customized::CustomizationSet;
using interpreter::customized::KindOperation;
using interpreter::customized::LuaBackend;
using interpreter::customized::Problem;
using interpreter::webhook::CallRecord;

// Returns "apps/v1 Deployment".
std::string KindText(const kube::Gvk& gvk) { return absl::StrCat(gvk.ApiVersion(), " ", gvk.kind); }

// Gives a customization without a name its place in the files as name, for traces, answers and
// errors.
void NameByPlace(tool::Document& document, Customization& customization) {
  const json::Value& metadata = document.value["metadata"];
  if (!metadata.is_null() && !metadata.is_object()) return;
  document.value.Set({"metadata", "name"}, document.Where());
  // The second parsing only gives the name; the problems (of which the missing name is one) are
  // those of the document as it is written.
  std::vector<Problem> problems = std::move(customization.problems);
  customization = interpreter::customized::ParseCustomization(kube::Object(document.value));
  customization.problems = std::move(problems);
}

// Returns a reason for not answering: which operations of the kind the set has rules for.
std::string WithoutRule(const CustomizationSet& set, const kube::Gvk& gvk) {
  std::vector<absl::string_view> names;
  for (const Operation op : interpreter::kAllOperations) {
    if (!set.RulesFor(gvk, op).empty()) names.push_back(interpreter::OperationName(op));
  }
  if (names.empty()) return absl::StrCat("no customization for ", KindText(gvk));
  return absl::StrCat("customizes only ", absl::StrJoin(names, ", "), " of ", KindText(gvk));
}

}  // namespace

std::string HookCall::IgnoredText() const {
  return absl::StrCat(hook, " failed after ", ShortTime(took),
                      ", which its failurePolicy ignores: ", status.message());
}

absl::string_view PassingOn(const std::optional<HookCall>& call) {
  return call.has_value() && call->passed_on ? interpreter::kWebhookLayer : absl::string_view();
}

absl::StatusOr<Customization> Layers::ParseOne(const tool::Document& document) {
  Customization customization =
      interpreter::customized::ParseCustomization(kube::Object(document.value));
  // Other problems are warned of, because the rest of the customization works.
  for (const auto& problem : customization.problems) {
    // A problem without a field means that the object is not a customization.
    if (problem.field.empty()) {
      return absl::InvalidArgumentError(absl::StrCat(document.Where(), ": ", problem.ToString(),
                                                     "; -f takes customizations only"));
    }
  }
  return customization;
}

std::unique_ptr<interpreter::Backend> Layers::NewScripts(
    absl::string_view layer, std::shared_ptr<const CustomizationSet> set) {
  interpreter::customized::LuaBackendOptions options;
  options.layer = layer;
  options.has_probation = false;
  options.on_run = [this](const lua::Usage& usage) {
    usage_.peak = std::max(usage_.peak, usage.peak_memory);
    usage_.garbage += usage.garbage;
  };
  options.on_results = [this](const lua::Script& script, Operation op, auto results) {
    for (const std::string& text : WarningsOf(op, results)) {
      warnings_.insert(absl::StrCat(interpreter::customized::PlaceOf(script, op), ": ", text));
    }
  };
  auto backend = std::make_unique<LuaBackend>(options);
  backend->Replace(set);
  slots_.push_back({layer, backend.get(), "", std::move(set)});
  return backend;
}

absl::Status Layers::AddCustomizations(const LayerOptions& options, ObjectSource& source,
                                       Backends& backends) {
  std::vector<Customization> given;
  for (const std::string& argument : options.customizations) {
    ASSIGN_OR_RETURN(std::vector<tool::Document> documents,
                     source.Customizations(argument, options.recursive));
    for (tool::Document& document : documents) {
      ASSIGN_OR_RETURN(Customization customization, ParseOne(document));
      if (customization.name.empty()) NameByPlace(document, customization);
      given.push_back(std::move(customization));
      given_.push_back(document);
    }
  }
  if (given.empty()) {
    slots_.push_back({interpreter::kCustomizationLayer, nullptr, "none given (-f)"});
  } else {
    backends.push_back(NewScripts(interpreter::kCustomizationLayer,
                                  CustomizationSet::Merge(std::move(given), options.merge)));
  }
  return absl::OkStatus();
}

absl::Status Layers::AddWebhooks(const LayerOptions& options, ObjectSource& source,
                                 Backends& backends) {
  ASSIGN_OR_RETURN(webhooks_, ReadWebhooks(options.webhooks, options.recursive, source));
  if (webhooks_.hooks->hooks().empty()) {
    slots_.push_back({interpreter::kWebhookLayer, nullptr, "none given (--webhook)"});
    return absl::OkStatus();
  }
  backends.push_back(
      NewWebhookLayer(webhooks_, [this](const CallRecord& record, const absl::Status& status) {
        hook_call_ = {record.hook.uid, record.took, status,
                      !status.ok() && record.hook.ignores_failures};
      }));
  slots_.push_back({interpreter::kWebhookLayer, backends.back().get(), ""});
  return absl::OkStatus();
}

void Layers::AddShipped(const LayerOptions& options, Backends& backends) {
  if (options.no_shipped) {
    slots_.push_back({interpreter::kShippedLayer, nullptr, "left out by --no-shipped"});
    return;
  }
  backends.push_back(
      NewScripts(interpreter::kShippedLayer,
                 interpreter::customized::LoadShipped(interpreter::customized::ShippedFiles())));
}

void Layers::AddNative(const LayerOptions& options, Backends& backends) {
  if (options.no_native) {
    slots_.push_back({interpreter::kNativeLayer, nullptr, "left out by --no-native"});
    return;
  }
  backends.push_back(options.upstream_form ? interpreter::NewUpstreamFormBackend(*options.clock)
                                           : interpreter::NewNativeBackend(*options.clock));
  slots_.push_back({interpreter::kNativeLayer, backends.back().get(), ""});
}

absl::StatusOr<std::unique_ptr<Layers>> Layers::Build(const LayerOptions& options,
                                                      ObjectSource& source) {
  auto layers = std::unique_ptr<Layers>(new Layers());
  Backends backends;
  RETURN_IF_ERROR(layers->AddCustomizations(options, source, backends));
  RETURN_IF_ERROR(layers->AddWebhooks(options, source, backends));
  layers->AddShipped(options, backends);
  layers->AddNative(options, backends);
  layers->chain_ = interpreter::NewChain(std::move(backends));
  return layers;
}

std::string Layers::WhyNot(const Slot& slot, const kube::Gvk& gvk, Operation op) const {
  if (slot.backend == nullptr) return slot.absent;
  if (slot.set != nullptr) return WithoutRule(*slot.set, gvk);
  if (slot.layer == interpreter::kWebhookLayer) {
    return absl::StrCat("no rule for ", interpreter::OperationName(op), " of ", KindText(gvk));
  }
  return absl::StrCat("no built-in ", interpreter::OperationName(op), " for ", KindText(gvk));
}

// A hook that answers is the layer's rule, and needs no remark.
std::vector<std::string> Layers::HookDetails(const kube::Gvk& gvk, Operation op) const {
  std::vector<std::string> details;
  for (const auto& verdict : interpreter::webhook::Explain(*webhooks_.hooks, gvk, op)) {
    if (verdict.reason.empty()) continue;
    details.push_back(absl::StrCat(verdict.hook->uid, ": ", verdict.reason));
  }
  return details;
}

std::vector<Layers::Verdict> Layers::Explain(const kube::Gvk& gvk, Operation op,
                                             const std::optional<HookCall>& call) const {
  std::vector<Verdict> verdicts;
  std::string answering;
  for (const Slot& slot : slots_) {
    const bool webhooks = slot.layer == interpreter::kWebhookLayer;
    Verdict verdict{std::string(slot.layer)};
    if (slot.backend != nullptr) verdict.rule = slot.backend->RuleOf(gvk, op);
    if (webhooks) verdict.details = HookDetails(gvk, op);
    if (op == Operation::kPrune && slot.layer == interpreter::kNativeLayer) {
      // This is not the layer's own rule: it applies to every manifest, after any layer's pruning.
      verdict.rule = "what every manifest loses";
    } else if (verdict.rule.empty()) {
      verdict.reason = WhyNot(slot, gvk, op);
    } else if (!answering.empty()) {
      // An earlier layer answers; what this one has is never asked.
      verdict.reason = absl::StrCat(verdict.rule, " has a rule, but ", answering, " comes first");
    } else if (webhooks && call.has_value() && call->passed_on) {
      verdict.reason = call->IgnoredText();
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

void Layers::WarnOfProblems(tool::Console& console) const {
  const auto warn = [&](const std::string& text) {
    console.err << console.err_colours.Yellow("warning:") << " " << tool::Printable(text) << "\n";
  };
  for (const Slot& slot : slots_) {
    if (slot.set == nullptr) continue;
    for (const auto& [name, problems] : slot.set->problems()) {
      for (const auto& problem : problems) warn(absl::StrCat(name, ": ", problem.ToString()));
    }
  }
  for (const std::string& problem : webhooks_.problems) warn(problem);
}

}  // namespace cmd::interpret
