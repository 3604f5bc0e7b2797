#include "lens/graph/needs.h"

#include <algorithm>
#include <string>
#include <utility>

#include "absl/strings/str_cat.h"
#include "api/resources.h"

namespace lens::graph {
namespace {

constexpr auto kOp = interpreter::Operation::kInterpretDependency;

std::vector<kube::ObjectPtr> Configurations(Reading& reading) {
  std::vector<kube::ObjectPtr> configurations;
  for (const kube::Resource& resource :
       {api::InterpreterCustomizations(), api::InterpreterWebhookConfigurations(),
        api::ExploringWebhookConfigurations()}) {
    for (kube::ObjectPtr& object : reading.List(resource)) {
      configurations.push_back(std::move(object));
    }
  }
  return configurations;
}

}  // namespace

Needs::Needs(Reading& reading, const std::map<plan::ObjectId, kube::ObjectPtr>& bindings,
             const interpreter::customized::MergeOptions& merge)
    : reading_(reading), bindings_(bindings), rules_(Configurations(reading), merge) {}

bool Needs::AreAskedOf(const kube::Gvk& gvk) const {
  return rules_.WithoutWebhooks().HasRule(gvk, kOp) && !rules_.IsAnsweredByWebhook(gvk, kOp);
}

const std::vector<api::DependentReference>& Needs::Of(const kube::Object& object) {
  const auto [entry, fresh] = needs_.try_emplace(plan::ObjectId::Of(object));
  if (fresh) entry->second = Ask(object);
  return entry->second;
}

const Reading::Answer& Needs::Find(const api::DependentReference& needed) {
  const auto [entry, fresh] = found_.try_emplace(needed.ToText());
  if (fresh) entry->second = Read(needed);
  return entry->second;
}

std::vector<api::DependentReference> Needs::Ask(const kube::Object& object) {
  std::vector<api::DependentReference> needs;
  const auto binding = bindings_.find(plan::ObjectId::Of(object));
  if (binding != bindings_.end()) needs = api::RecordedDependencies(*binding->second);
  if (!AreAskedOf(object.gvk())) {
    if (needs.empty() && rules_.IsAnsweredByWebhook(object.gvk(), kOp)) {
      reading_.Note(absl::StrCat("what a ", object.kind(), " needs"),
                    absl::StrCat("the webhook ", rules_.RuleFor(object.gvk(), kOp).name,
                                 " answers that, which is not called from here"));
    }
    return needs;
  }
  const auto said = rules_.WithoutWebhooks().GetDependencies(object);
  if (!said.ok()) {
    reading_.Note(absl::StrCat("what ", object.Describe(), " needs"),
                  std::string(said.status().message()));
    return needs;
  }
  for (api::DependentReference& reference : api::DependenciesFromJson(*said)) {
    const bool known = std::find(needs.begin(), needs.end(), reference) != needs.end();
    if (!known) needs.push_back(std::move(reference));
  }
  return needs;
}

Reading::Answer Needs::Read(const api::DependentReference& needed) {
  if (!needed.name.empty()) return reading_.Get(needed.gvk(), {needed.ns, needed.name});
  const kube::Resource resource = reading_.ResourceOf(needed.gvk());
  if (resource.gvk.empty()) return {};
  Reading::Answer answer = reading_.ListIn(resource, needed.ns);
  std::erase_if(answer.objects,
                [&](const kube::ObjectPtr& object) { return !needed.Matches(*object); });
  return answer;
}

}  // namespace lens::graph
