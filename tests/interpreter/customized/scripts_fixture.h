// Customizations made of script texts, for tests.
#ifndef TESTS_INTERPRETER_CUSTOMIZED_SCRIPTS_FIXTURE_H_
#define TESTS_INTERPRETER_CUSTOMIZED_SCRIPTS_FIXTURE_H_

#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "absl/strings/string_view.h"
#include "interpreter/customized/customization.h"
#include "interpreter/customized/customization_set.h"

namespace tests {

inline const kube::Gvk kWidget{"example.io", "v1", "Widget"};

// The customization `name` of Widgets (or of another kind) with these texts by field.
inline interpreter::customized::Customization Customize(
    absl::string_view name, std::vector<std::pair<absl::string_view, absl::string_view>> scripts,
    const kube::Gvk& target = kWidget) {
  json::Value customizations = json::Value::Object();
  for (const auto& [field, text] : scripts) customizations.Set({field, "luaScript"}, text);
  kube::Object object(json::Value::Object({{"apiVersion", "config.karmada.io/v1alpha1"},
                                           {"kind", "ResourceInterpreterCustomization"},
                                           {"metadata", json::Value::Object({{"name", name}})}}));
  object.Set({"spec", "target"},
             json::Value::Object({{"apiVersion", target.ApiVersion()}, {"kind", target.kind}}));
  object.Set({"spec", "customizations"}, customizations);
  return interpreter::customized::ParseCustomization(object);
}

template <class... Customizations>
std::shared_ptr<const interpreter::customized::CustomizationSet> SetOf(
    Customizations... customizations) {
  std::vector<interpreter::customized::Customization> all;
  (all.push_back(std::move(customizations)), ...);
  return interpreter::customized::CustomizationSet::Merge(std::move(all));
}

// Returns the customization with additional targets.
inline interpreter::customized::Customization Also(
    interpreter::customized::Customization customization, std::vector<kube::Gvk> targets) {
  customization.additional_targets = std::move(targets);
  return customization;
}

// As SetOf, with customizations that are combined.
template <class... Customizations>
std::shared_ptr<const interpreter::customized::CustomizationSet> CombinedSetOf(
    Customizations... customizations) {
  std::vector<interpreter::customized::Customization> all;
  (all.push_back(std::move(customizations)), ...);
  return interpreter::customized::CustomizationSet::Merge(std::move(all), {.combined = true});
}

inline kube::Object Widget(absl::string_view rest = "{}") {
  kube::Object widget(json::Parse(rest).value());
  widget.Set({"apiVersion"}, kWidget.ApiVersion());
  widget.Set({"kind"}, kWidget.kind);
  widget.Set({"metadata", "name"}, "w");
  return widget;
}

}  // namespace tests

#endif  // TESTS_INTERPRETER_CUSTOMIZED_SCRIPTS_FIXTURE_H_
