// A chain is put together as lens/why reads it for one template: what all share is copied, what is
// the template's own is filed, and what it needs is looked up among the bindings. Of the policies
// only those that may govern it are in the chain, so that the cost of a template does not grow with
// all others; a template that none selects gets all of them, for hints. No state, nothing is lost.

#include "lens/fleet/judge.h"

#include <algorithm>
#include <set>
#include <utility>

#include "absl/strings/str_cat.h"
#include "api/binding.h"
#include "api/binding_address.h"
#include "api/dependencies.h"
#include "api/resources.h"
#include "lens/why/diagnosis.h"
#include "lens/why/matching.h"
#include "lens/why/since.h"

namespace lens::fleet {
namespace {

void Append(const std::map<std::string, why::Objects>& lists, const std::string& key,
            why::Objects& objects) {
  const auto found = lists.find(key);
  if (found != lists.end())
    objects.insert(objects.end(), found->second.begin(), found->second.end());
}

// What is needed and exists is not missing; what nobody has looked for may exist.
void SettleNeeds(const Existence& existence, why::Chain& chain) {
  const auto is_missing = [&](const api::DependentReference& need) {
    const auto known = existence.find(need.Describe());
    return known != existence.end() && !known->second;
  };
  chain.missing.erase(std::remove_if(chain.missing.begin(), chain.missing.end(),
                                     [&](const auto& need) { return !is_missing(need); }),
                      chain.missing.end());
}

std::string GoverningPolicy(const why::Chain& chain) {
  std::string claim;
  const kube::ObjectPtr& claimed = chain.object != nullptr ? chain.object : chain.binding;
  if (claimed != nullptr) why::ClaimingPolicy(chain, *claimed, &claim);
  return claim;
}

constexpr size_t kMostElsewhere = 5;  // The first ones stand for all.

// Returns what stops the template in other clusters than the cause, and for another reason: the
// first finding of each cluster, those with the same reason as one.
std::vector<why::Finding> StoppedElsewhere(const why::Diagnosis& diagnosis) {
  const why::Finding& cause = *diagnosis.cause;
  std::vector<why::Finding> others;
  if (cause.cluster.empty() || cause.grade != why::Grade::kStuck) return others;
  std::set<std::string> clusters = {cause.cluster}, reasons = {why::WithoutCluster(cause)};
  for (const why::Finding& finding : diagnosis.findings) {
    const bool counts = finding.grade == cause.grade && finding.is_wanted == cause.is_wanted;
    if (!counts || finding.cluster.empty() || others.size() == kMostElsewhere) continue;
    if (!clusters.insert(finding.cluster).second) continue;
    if (reasons.insert(why::WithoutCluster(finding)).second) others.push_back(finding);
  }
  return others;
}

}  // namespace

std::string SubjectOf(const kube::Object& event) {
  const json::Value& involved = event.root()["involvedObject"];
  const kube::ObjectKey key{involved["namespace"].ToString(), involved["name"].ToString()};
  return absl::StrCat(involved["kind"].AsString(), " ", key.ToString());
}

Judge::Judge(why::Chain shared, const why::Objects& overrides, const why::Objects& spaces,
             const Glance& glance)
    : base_(std::move(shared)), glance_(glance) {
  base_.is_of_lists = true;
  all_policies_.swap(base_.policies);
  for (const kube::ObjectPtr& policy : all_policies_) {
    policies_[std::string(policy->ns())].push_back(policy);
  }
  for (const kube::ObjectPtr& policy : overrides) {
    overrides_[std::string(policy->ns())].push_back(policy);
    base_.override_names.insert(policy->key());
  }
  for (const kube::ObjectPtr& space : spaces) {
    why::Objects& own = spaces_[std::string(space->name())];
    own.push_back(space);
    const api::BindingAddress at = api::BindingOf("Namespace", space->key());
    if (auto binding = glance.FindBinding(at.resource.gvk, at.key)) own.push_back(binding);
  }
}

std::vector<std::string> Judge::SubjectsOf(const Candidate& candidate) {
  std::vector<std::string> names = {
      absl::StrCat(candidate.gvk.kind, " ", candidate.key.ToString())};
  if (candidate.binding != nullptr) names.push_back(candidate.binding->Describe());
  for (const auto& [cluster, work] : candidate.works) names.push_back(work->Describe());
  return names;
}

why::Objects Judge::OwnObjects(const Candidate& candidate, const EventsByObject& events) const {
  why::Objects objects;
  if (candidate.object != nullptr) objects.push_back(candidate.object);
  if (candidate.binding != nullptr) objects.push_back(candidate.binding);
  for (const auto& [cluster, work] : candidate.works) objects.push_back(work);
  Append(overrides_, candidate.key.ns, objects);
  Append(spaces_, candidate.key.ns, objects);
  for (const std::string& subject : SubjectsOf(candidate)) Append(events, subject, objects);
  if (candidate.binding == nullptr) return objects;
  const auto add = [&](const kube::Gvk& gvk, const kube::ObjectKey& key) {
    if (const kube::ObjectPtr found = glance_.FindBinding(gvk, key)) objects.push_back(found);
  };
  for (const auto& by : api::BindingView(*candidate.binding).RequiredBy()) {
    add(by.ns.empty() ? api::ClusterResourceBindings().gvk : api::ResourceBindings().gvk,
        {by.ns, by.name});
  }
  return objects;
}

why::Chain Judge::ChainOf(const Candidate& candidate, const EventsByObject& events,
                          const Existence& existence) const {
  why::Chain chain = base_;
  chain.asked.gvk = candidate.gvk;
  chain.asked.key = candidate.key;
  Append(policies_, candidate.key.ns, chain.policies);
  if (!candidate.key.ns.empty()) Append(policies_, "", chain.policies);
  why::FileObjects(OwnObjects(candidate, events), chain);
  const bool is_unclaimed = candidate.binding == nullptr && candidate.object != nullptr;
  if (is_unclaimed) {
    const std::vector<why::Match> matches = why::Matches(chain);
    if (matches.empty()) chain.policies = all_policies_;
    if (!matches.empty()) {
      why::Objects about_policy;
      Append(events, matches[0].Describe(), about_policy);
      why::FileObjects(about_policy, chain);
    }
  }
  why::FindNeeds({}, chain);
  for (const api::DependentReference& need : chain.needed) {
    const api::BindingAddress at = api::BindingOf(need.kind, {need.ns, need.name});
    if (auto found = glance_.FindBinding(at.resource.gvk, at.key)) chain.bindings[at.key] = found;
  }
  SettleNeeds(existence, chain);
  return chain;
}

std::optional<Trouble> Judge::Of(const Candidate& candidate, const EventsByObject& events,
                                 const Existence& existence) const {
  const why::Chain chain = ChainOf(candidate, events, existence);
  why::Diagnosis diagnosis = why::Diagnose(chain);
  if (diagnosis.cause == nullptr || diagnosis.cause->grade == why::Grade::kNote) return {};
  Trouble trouble{candidate.gvk, candidate.key, GoverningPolicy(chain), *diagnosis.cause};
  trouble.brief = why::BriefOf(trouble.cause);
  trouble.headline = std::move(diagnosis.headline);
  trouble.since = why::SinceWhen(chain, trouble.cause);
  for (const why::Finding& finding : StoppedElsewhere(diagnosis)) {
    Trouble other{candidate.gvk, candidate.key, trouble.policy, finding};
    other.brief = why::BriefOf(finding);
    other.headline = finding.cause;
    other.since = why::SinceWhen(chain, finding);
    trouble.elsewhere.push_back(std::move(other));
  }
  return trouble;
}

}  // namespace lens::fleet
