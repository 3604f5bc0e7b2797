#include "controllers/dependencies/held_needs.h"

#include <set>
#include <string>
#include <utility>

#include "absl/strings/str_cat.h"
#include "api/binding.h"
#include "api/binding_scope.h"
#include "api/keys.h"
#include "api/work.h"
#include "works/kept_work.h"
#include "works/passage.h"

namespace controllers {

std::optional<std::vector<kube::ObjectPtr>> StatesHeldBack(
    kube::ClusterClient& client, const interpreter::Interpreter& interpreter,
    const kube::Object& binding, const kube::ObjectPtr& object) {
  const api::BindingView view(binding);
  const auto works = [&] { return works::TargetWorks(view, client); };
  if (works::PassageOf(view, *object, works, interpreter) == works::Passage::kPassed) {
    return std::nullopt;
  }
  const bool is_recorded = binding.annotations().Find(api::kDependenciesAnnotation) != nullptr;
  const std::string present = absl::StrCat(object->generation());
  std::vector<kube::ObjectPtr> states;
  std::set<std::string> generations;
  for (const api::TargetCluster& target : view.DispatchTargets()) {
    const kube::ObjectPtr kept =
        works::WorkToKeep<api::scope::Namespaced>(client, view, target.name);
    // A Work that has just been made of the template is there before or after this pass.
    kube::ObjectPtr state = object;
    std::string generation = present;
    if (kept != nullptr && object->generation() > 0) {
      kube::Object manifest(api::WorkView(*kept).Manifests()[0]);
      generation = std::string(manifest.Annotation(api::kTemplateGenerationAnnotation));
      if (generation != present) state = kube::Share(std::move(manifest));
    }
    if (state != object && is_recorded) continue;
    if (generations.insert(generation).second) states.push_back(std::move(state));
  }
  return states;
}

}  // namespace controllers
