#include "interpreter/live/configurations.h"

#include <set>
#include <utility>

#include "api/resources.h"

namespace interpreter::live {

namespace {

using customized::CustomizationSet;
using webhook::HookSet;

std::vector<kube::ObjectPtr> ObjectsOf(const kube::InformerSet& informers,
                                       const kube::Resource& resource) {
  const auto informer = informers.Find(resource);
  return informer == nullptr ? std::vector<kube::ObjectPtr>() : informer->store().List();
}

// Moves the entry of this version of the object from `before` to `now`; reads the object if there
// is none.
template <class Map, class Read>
const auto& ReadOnce(const kube::Object& object, const typename Map::key_type& key, Map& before,
                     Map& now, Read read) {
  const auto known = before.find(key);
  if (known != before.end() && known->second.version == object.resource_version()) {
    return now.insert(before.extract(known)).position->second.read;
  }
  return now
      .insert_or_assign(
          key, typename Map::mapped_type{std::string(object.resource_version()), read(object)})
      .first->second.read;
}

std::vector<std::string> ProblemsOf(const CustomizationSet& set, const kube::Object& object) {
  std::vector<std::string> texts;
  const auto found = set.problems().find(std::string(object.name()));
  if (found == set.problems().end()) return texts;
  for (const customized::Problem& problem : found->second) texts.push_back(problem.ToString());
  return texts;
}

}  // namespace

std::vector<std::pair<std::string, kube::Gvk>> Configurations::NamedKinds(
    const customized::Customization& read) const {
  std::vector<std::pair<std::string, kube::Gvk>> kinds = {{"spec.target", read.target}};
  if (!merge_.combined) return kinds;
  for (const kube::Gvk& target : read.additional_targets) {
    // What a wildcard stands for may be served later, and may be nothing.
    if (!customized::HasWildcard(target)) kinds.push_back({"spec.additionalTargets", target});
  }
  return kinds;
}

std::shared_ptr<const CustomizationSet> Configurations::Customizations(Findings& findings) {
  // Objects whose version is known are not parsed and compiled again; those that are gone stay
  // behind in `before`.
  auto before = std::exchange(customizations_, {});
  std::vector<Customization> all;
  const auto objects = ObjectsOf(informers_, api::InterpreterCustomizations());
  for (const kube::ObjectPtr& object : objects) {
    all.push_back(ReadOnce(*object, std::string(object->name()), before, customizations_,
                           [](const kube::Object& changed) -> Customization {
                             return std::make_shared<customized::Customization>(
                                 customized::ParseCustomization(changed));
                           }));
  }
  const auto set = CustomizationSet::Merge(all, merge_);
  for (size_t i = 0; i < objects.size(); ++i) {
    std::vector<std::string> problems = ProblemsOf(*set, *objects[i]);
    for (const auto& [field, kind] : NamedKinds(*all[i])) {
      std::string unserved = unserved_.ProblemOf(kind, field);
      if (!unserved.empty()) problems.push_back(std::move(unserved));
    }
    findings.push_back({objects[i], std::move(problems)});
  }
  return set;
}

bool Configurations::LookForTargets(const base::StopToken& stop) {
  std::set<kube::Gvk> targets;
  for (const auto& [name, known] : customizations_) {
    for (const auto& [field, kind] : NamedKinds(*known.read)) targets.insert(kind);
  }
  return unserved_.Look(targets, stop);
}

std::shared_ptr<const HookSet> Configurations::Hooks(Findings& findings) {
  auto before = std::exchange(webhooks_, {});
  std::vector<webhook::Hook> hooks;
  for (const kube::Resource* resource :
       {&api::InterpreterWebhookConfigurations(), &api::ExploringWebhookConfigurations()}) {
    for (const kube::ObjectPtr& object : ObjectsOf(informers_, *resource)) {
      const WebhookKey key{std::string(object->kind()), std::string(object->name())};
      const webhook::Configuration& read =
          ReadOnce(*object, key, before, webhooks_, &webhook::ReadConfiguration);
      hooks.insert(hooks.end(), read.hooks.begin(), read.hooks.end());
      std::vector<std::string> problems = read.problems;
      for (std::string& problem : unknown_.ProblemsOf(read.hooks)) {
        problems.push_back(std::move(problem));
      }
      findings.push_back({object, std::move(problems)});
    }
  }
  return std::make_shared<const HookSet>(
      std::move(hooks),
      [&unknown = unknown_](const kube::Gvk& gvk) { return unknown.LookUp(gvk); });
}

}  // namespace interpreter::live
