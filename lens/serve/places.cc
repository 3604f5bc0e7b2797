// Everything is taken from the chain and computed by the functions of lens/why, so that the picture
// cannot disagree with the answer above it.

#include "lens/serve/places.h"

#include <map>
#include <set>
#include <string>

#include "api/binding.h"
#include "api/cluster.h"
#include "api/keys.h"
#include "api/work.h"
#include "kube/meta/patch_paths.h"
#include "lens/serve/shown.h"
#include "lens/why/expected.h"
#include "lens/why/health.h"

namespace lens::serve {
namespace {

constexpr size_t kPathsShown = 12;

// How many of its replicas are ready, as the status of usual workloads has it; null for others.
json::Value ReadyOf(const json::Value& status) {
  for (const absl::string_view name : {"readyReplicas", "numberReady", "succeeded"}) {
    if (status[name].is_int()) return status[name];
  }
  // A workload leaves the field out while nothing is ready.
  return status.Has("replicas") ? json::Value(0) : json::Value();
}

class Places {
 public:
  explicit Places(const why::Chain& chain) : chain_(chain) {
    for (const api::TargetCluster& target : chain.Targets()) targets_.emplace(target.name, target);
    if (chain.binding == nullptr) return;
    for (const api::EvictionTask& task : api::BindingView(*chain.binding).EvictionTasks()) {
      evicting_.insert(task.from_cluster);
    }
  }

  json::Value All() const {
    std::set<std::string> names = evicting_;
    for (const auto& [name, target] : targets_) names.insert(name);
    for (const auto& [name, work] : chain_.works) {
      if (chain_.Concerns(name)) names.insert(name);
    }
    json::Value places = json::Value::Array();
    for (const std::string& name : names) places.Append(At(name));
    return places;
  }

 private:
  json::Value At(const std::string& name) const {
    json::Value place = json::Value::Object({{"cluster", name}});
    const auto target = targets_.find(name);
    const bool is_workload =
        chain_.binding != nullptr && api::BindingView(*chain_.binding).Replicas() > 0;
    const bool counts = target != targets_.end() && is_workload;
    place.Set("isTarget", target != targets_.end());
    place.Set("wanted", counts ? json::Value(target->second.replicas) : json::Value());
    place.Set("isEvicted", evicting_.count(name) > 0);
    AddCluster(name, place);
    AddWork(name, place);
    AddMember(name, place);
    if (target != targets_.end()) AddOverrides(target->second, place);
    return place;
  }

  void AddCluster(const std::string& name, json::Value& place) const {
    const auto cluster = chain_.clusters.find(name);
    place.Set("clusterExists", cluster != chain_.clusters.end());
    place.Set("clusterReady",
              cluster != chain_.clusters.end() && api::ClusterView(*cluster->second).IsReady());
  }

  void AddWork(const std::string& name, json::Value& place) const {
    const auto found = chain_.works.find(name);
    if (found == chain_.works.end()) {
      place.Set("work", json::Value());
      return;
    }
    const kube::Object& work = *found->second;
    const api::WorkView view(work);
    const json::Value* applied = kube::FindCondition(view.Conditions(), api::kWorkApplied);
    place.Set("work", work.key().ToString());
    place.Set("applied", applied == nullptr ? json::Value() : json::Value(view.IsApplied()));
    place.Set("appliedMessage", applied == nullptr || view.IsApplied()
                                    ? ""
                                    : Shortened((*applied)["message"].AsString()));
    place.Set("isSuspended", view.IsDispatchingSuspended());
    place.Set("isLeaving", work.IsDeleting());
    const std::string health = why::HealthIn(chain_, work);
    place.Set("health", health);
    const bool is_bad = !health.empty() && health != api::kHealthy;
    place.Set("whyUnhealthy", is_bad ? Shortened(why::WhyUnhealthy(chain_, name, work)) : "");
    place.Set("there", ReadyOf(why::StatusIn(chain_, work).status));
  }

  void AddMember(const std::string& name, json::Value& place) const {
    const auto answer = chain_.members.find(name);
    if (answer == chain_.members.end()) {
      place.Set("member", "was not asked");
      return;
    }
    const why::MemberAnswer& said = answer->second;
    place.Set("member", !said.status.ok()        ? Shortened(said.status.message())
                        : said.object == nullptr ? "has no such object"
                                                 : "has it");
    place.Set("memberAnswers", said.status.ok());
    if (said.object != nullptr) place.Set("there", ReadyOf(said.object->status()));
    if (said.status.ok() && said.object == nullptr) place.Set("there", 0);
    const absl::StatusOr<json::Value> difference = why::DifferenceIn(chain_, name);
    if (!difference.ok()) place.Set("differsUnknown", Shortened(difference.status().message()));
    place.Set("differs", difference.ok() && !difference->empty()
                             ? Shortened(kube::PathsOf(*difference, kPathsShown))
                             : "");
  }

  void AddOverrides(const api::TargetCluster& target, json::Value& place) const {
    json::Value rules = json::Value::Array();
    if (chain_.object != nullptr && chain_.binding != nullptr) {
      const absl::StatusOr<why::Expected> expected = why::ExpectedFor(chain_, target);
      if (!expected.ok()) {
        place.Set("overridesUnknown", Shortened(expected.status().message()));
        // What could not be asked is no failure.
        place.Set("cannotBeMade", !absl::IsUnavailable(expected.status()));
      }
      if (expected.ok()) {
        for (const auto* applied :
             {&expected->application.of_cluster_policies, &expected->application.of_policies}) {
          for (const overrides::AppliedRule& one : *applied) {
            json::Value rule = SubjectOf(one.policy->object().gvk(), one.policy->object().key());
            rule.Set("field", one.rule->field);
            rules.Append(std::move(rule));
          }
        }
      }
    }
    place.Set("overrides", std::move(rules));
  }

  const why::Chain& chain_;
  std::map<std::string, api::TargetCluster> targets_;
  std::set<std::string> evicting_;
};

}  // namespace

json::Value PlacesOf(const why::Chain& chain) { return Places(chain).All(); }

}  // namespace lens::serve
