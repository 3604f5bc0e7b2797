#include "lens/plan/places.h"

#include "api/resources.h"

namespace lens::plan {

Places::Places(const std::vector<InputObject>& objects) {
  for (const InputObject& read : objects) {
    ObjectId id = ObjectId::Of(read.object);
    by_id_.try_emplace(id, &read);
    if (!id.ns.empty()) continue;
    id.ns = "default";
    by_id_.try_emplace(id, &read);
  }
}

const InputObject* Places::Find(const ObjectId& id) const {
  const auto found = by_id_.find(id);
  return found == by_id_.end() ? nullptr : found->second;
}

Place Places::Of(const ObjectId& id) const {
  const InputObject* read = Find(id);
  return read == nullptr ? Place() : read->place();
}

Place Places::OfPolicy(const TemplateOutcome& outcome) const {
  return Of({api::PropagationPolicies().gvk.group, outcome.policy_kind, outcome.policy.ns,
             outcome.policy.name});
}

}  // namespace lens::plan
