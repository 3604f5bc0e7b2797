// Order: bindings, which name the templates; what all templates share (policies, clusters,
// customizations, leases); templates, each kind by one list; Works, page by page. At each step a
// glance tells what is plainly fine, of which nothing but the place is kept, so that memory grows
// with what is wrong and with the bindings, not with the Works. Then events and needed objects are
// read for what is not fine, and the checks of lens/why say the cause. If a template turns out not
// to be fine only when some of its Works have been let go, those are read again: by label when they
// are few, else by a second list. Works that are being deleted and have no binding any more are
// those of templates that have gone and that a cluster still has.
//
// Objects without a binding count as templates when they are workloads, which run nowhere else, or
// when a policy selects them; nothing is expected of others, such as a ConfigMap that is used in
// the control plane. Namespaces, which go to each cluster by themselves, are left out, and so is
// what flags and reserved namespaces exclude.

#include "lens/fleet/reader.h"

#include <algorithm>
#include <map>
#include <memory>
#include <optional>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "absl/strings/str_cat.h"
#include "api/binding.h"
#include "api/binding_address.h"
#include "api/binding_scope.h"
#include "api/keys.h"
#include "api/names.h"
#include "api/programs.h"
#include "api/resources.h"
#include "api/work.h"
#include "base/status.h"
#include "lens/fleet/candidate.h"
#include "lens/fleet/evidence.h"
#include "lens/fleet/glance.h"
#include "lens/fleet/judge.h"
#include "lens/fleet/leftovers.h"
#include "lens/fleet/lists.h"
#include "lens/fleet/templates.h"
#include "lens/why/agents.h"
#include "lens/why/matching.h"

namespace lens::fleet {
namespace {

using why::Objects;

// What of a binding decides; the status of each member's object, which may be long, does not.
std::vector<std::string> BindingFields() {
  return {"metadata",
          "spec",
          "status.conditions",
          "status.schedulerObservedGeneration",
          "status.lastScheduledTime",
          "status.aggregatedStatus.*.clusterName",
          "status.aggregatedStatus.*.applied",
          "status.aggregatedStatus.*.appliedMessage",
          "status.aggregatedStatus.*.health"};
}

bool NamesPolicy(const std::string& claim, const std::string& policy) {
  const size_t at = claim.find_last_of("/ ");
  return at != std::string::npos && claim.substr(at + 1) == policy;
}

class Reader {
 public:
  Reader(kube::Client& client, const kube::Discovery& discovery, const Scope& scope,
         const why::Question& flags, const base::StopToken& stop)
      : discovery_(discovery),
        scope_(scope),
        flags_(flags),
        lists_(client, scope.ns, stop),
        evidence_(discovery, scope_, lists_) {}

  absl::StatusOr<Fleet> Read() {
    ReadBindings();
    if (!lists_.is_whole() && bindings_.empty()) {
      return absl::PermissionDeniedError(
          absl::StrCat("the bindings could not be read: ", lists_.unread()[0]));
    }
    ASSIGN_OR_RETURN(why::Chain shared, ReadShared());
    shared_ = std::make_unique<why::Chain>(std::move(shared));
    glance_ = std::make_unique<Glance>(*shared_, overrides_, bindings_);
    candidates_ = Templates(discovery_, scope_, *shared_, *glance_, lists_).Read(bindings_);
    evidence_.ReadWarnings();
    LookAtTemplates();
    ReadWorks();
    return Judged();
  }

 private:
  void ReadBindings() {
    kube::ListOptions options;
    options.fields = BindingFields();
    const Objects namespaced =
        lists_.All(api::ResourceBindings(), scope_.ns, Weight::kDecides, options);
    bindings_ = namespaced;
    if (!scope_.ns.empty()) {
      // Why members do not have the namespace.
      const api::BindingAddress at = api::BindingOf("Namespace", {"", scope_.ns});
      const kube::ObjectPtr binding = lists_.Get(at.resource, at.key, Weight::kHints);
      if (binding != nullptr) bindings_.push_back(binding);
    } else {
      const Objects cluster_wide =
          lists_.All(api::ClusterResourceBindings(), "", Weight::kDecides, options);
      bindings_.insert(bindings_.end(), cluster_wide.begin(), cluster_wide.end());
    }
  }

  // Reads what all templates have in common.
  absl::StatusOr<why::Chain> ReadShared() {
    Objects shared, configurations;
    const auto add = [&](const kube::Resource& resource, const std::string& ns, Weight weight,
                         Objects& to, std::vector<std::string> fields = {}) {
      kube::ListOptions options;
      options.fields = std::move(fields);
      const Objects found = lists_.All(resource, ns, weight, options);
      to.insert(to.end(), found.begin(), found.end());
    };
    add(api::PropagationPolicies(), "", Weight::kDecides, shared);
    add(api::ClusterPropagationPolicies(), "", Weight::kDecides, shared);
    add(api::ClusterOverridePolicies(), "", Weight::kHelps, shared);
    add(api::Clusters(), "", Weight::kDecides, shared);
    add(api::Namespaces(), "", Weight::kHelps, spaces_, {"metadata"});
    add(api::OverridePolicies(), scope_.ns, Weight::kHelps, overrides_);
    add(api::InterpreterCustomizations(), "", Weight::kHelps, configurations);
    add(api::InterpreterWebhookConfigurations(), "", Weight::kHelps, configurations);
    add(api::ExploringWebhookConfigurations(), "", Weight::kHelps, configurations);
    for (const char* name : {api::kControllerManager, api::kScheduler}) {
      const kube::ObjectPtr lease =
          lists_.Get(api::Leases(), {api::kSystemNamespace, name}, Weight::kHelps);
      if (lease != nullptr) shared.push_back(lease);
    }
    if (why::AnyIsPull(shared)) add(api::Leases(), api::kClusterNamespace, Weight::kHints, shared);
    why::Question question = flags_;
    question.cluster = scope_.cluster;
    ASSIGN_OR_RETURN(why::Chain chain, why::EmptyChain(std::move(question), absl::Now()));
    chain.rules = std::make_shared<const why::Rules>(configurations, flags_.merge);
    why::FileObjects(shared, chain);
    why::FileObjects(spaces_, chain);
    for (const kube::ObjectPtr& policy : overrides_) chain.override_names.insert(policy->key());
    return chain;
  }

  // Returns whether the template belongs to what was asked about.
  bool IsAsked(const Candidate& candidate) const {
    const std::string& cluster = scope_.cluster;
    if (!cluster.empty()) {
      if (candidate.binding == nullptr) return false;
      const auto expected = api::BindingView(*candidate.binding).ExpectedClusters();
      if (expected.count(cluster) == 0) return false;
    }
    if (scope_.policy.empty()) return true;
    std::string claim;
    const kube::ObjectPtr& claimed =
        candidate.object != nullptr ? candidate.object : candidate.binding;
    if (claimed != nullptr) why::ClaimingPolicy(*shared_, *claimed, &claim);
    return NamesPolicy(claim, scope_.policy);
  }

  // Drops what was not asked about, and doubts what does not look fine.
  void LookAtTemplates() {
    candidates_.erase(std::remove_if(candidates_.begin(), candidates_.end(),
                                     [&](const Candidate& c) { return !c.is_read || !IsAsked(c); }),
                      candidates_.end());
    for (size_t i = 0; i < candidates_.size(); ++i) {
      Candidate& candidate = candidates_[i];
      if (candidate.binding == nullptr) continue;
      by_id_[std::string(api::BindingView(*candidate.binding).PermanentId())] = i;
      if (candidate.seems_fine) {
        candidate.seems_fine = glance_->IsFine(candidate) && !evidence_.IsWarnedOf(candidate);
      }
    }
  }

  // Returns the candidate to which the Work belongs by its label; nullptr for none.
  Candidate* OwnerOf(const kube::Object& work) {
    for (const absl::string_view label :
         {api::scope::Namespaced::kIdLabel, api::scope::Cluster::kIdLabel}) {
      const absl::string_view id = work.Label(label);
      const auto found = id.empty() ? by_id_.end() : by_id_.find(std::string(id));
      if (found != by_id_.end()) return &candidates_[found->second];
    }
    return nullptr;
  }

  void TakeWork(kube::Object work) {
    const auto cluster = api::ClusterOfExecutionNamespace(work.ns());
    Candidate* owner = OwnerOf(work);
    if (owner == nullptr) leftovers_->Take(work);
    if (owner == nullptr || !cluster.ok()) return;
    if (owner->seems_fine) {
      const bool is_warned = evidence_.IsWarnedOf(work.Describe());
      if (glance_->IsFine(*owner, *cluster, work) && !is_warned) {
        owner->places.push_back(*cluster);
        return;
      }
      owner->seems_fine = false;
    }
    owner->works[*cluster] = kube::Share(std::move(work));
  }

  void ReadWorks() {
    const std::string ns = scope_.cluster.empty() ? "" : api::ExecutionNamespace(scope_.cluster);
    leftovers_ = std::make_unique<Leftovers>(discovery_, scope_, bindings_, lists_);
    ListWorks(ns, {});
    leftovers_->AddTo(candidates_);
    std::set<size_t> incomplete;
    for (size_t i = 0; i < candidates_.size(); ++i) {
      Candidate& candidate = candidates_[i];
      if (candidate.seems_fine) candidate.seems_fine = glance_->HasItsWorks(candidate);
      if (!candidate.seems_fine && !candidate.places.empty()) incomplete.insert(i);
    }
    if (incomplete.empty()) return;
    for (const size_t i : incomplete) candidates_[i].places.clear();
    if (incomplete.size() >= kListFrom) return ListWorks(ns, incomplete);
    for (const size_t i : incomplete) {
      const kube::Object& binding = *candidates_[i].binding;
      kube::ListOptions options;
      options.label_selector = absl::StrCat(
          binding.ns().empty() ? api::scope::Cluster::kIdLabel : api::scope::Namespaced::kIdLabel,
          "=", api::BindingView(binding).PermanentId());
      for (const kube::ObjectPtr& work : lists_.All(api::Works(), ns, Weight::kDecides, options)) {
        TakeWork(*work);
      }
    }
  }

  // Takes the Works of the candidates; without any given those of all.
  void ListWorks(const std::string& ns, const std::set<size_t>& of) {
    lists_.Pages(api::Works(), ns, Weight::kDecides, {}, [&](kube::ListPage page, bool begins) {
      if (begins && of.empty()) {
        for (Candidate& candidate : candidates_) candidate.places.clear();
        leftovers_->Clear();
      }
      for (kube::Object& work : page.items) {
        const Candidate* owner = of.empty() ? nullptr : OwnerOf(work);
        const bool is_wanted =
            of.empty() || (owner != nullptr && of.count(owner - candidates_.data()) > 0);
        if (is_wanted) TakeWork(std::move(work));
      }
    });
  }

  Fleet Judged() {
    evidence_.ReadMore(candidates_);
    why::Chain shared = *shared_;
    shared.unreadable = lists_.unreadable();
    const Judge judge(std::move(shared), overrides_, spaces_, *glance_);
    Fleet fleet;
    fleet.scope = scope_;
    fleet.now = shared_->now;
    fleet.templates = candidates_.size();
    for (const Candidate& candidate : candidates_) {
      if (candidate.seems_fine) continue;
      if (auto trouble = judge.Of(candidate, evidence_.events(), evidence_.existence())) {
        fleet.troubles.push_back(*std::move(trouble));
      }
    }
    AddStopped(fleet);
    AddUnknown(fleet);
    fleet.unread = lists_.unread();
    fleet.is_whole = lists_.is_whole();
    return fleet;
  }

  void AddStopped(Fleet& fleet) const {
    for (const why::Program program :
         {why::Program::kControllerManager, why::Program::kScheduler}) {
      why::Finding waiting{why::Step::kBinding};
      waiting.cause = "what is shown here may be of an earlier time";
      waiting.waits_for = program;
      for (const why::Finding& stopped : why::CheckProgram(*shared_, waiting)) {
        fleet.stopped.push_back(absl::StrCat(stopped.cause, "; ", stopped.advice));
      }
    }
    AddSilentAgents(fleet);
  }

  // Those of clusters in pull mode.
  void AddSilentAgents(Fleet& fleet) const {
    std::vector<std::string> silent;
    for (const auto& [name, cluster] : shared_->clusters) {
      const bool is_asked = scope_.cluster.empty() || scope_.cluster == name;
      if (is_asked && !why::WhyAgentIsSilent(*shared_, name).empty()) silent.push_back(name);
    }
    if (silent.empty()) return;
    const bool is_one = silent.size() == 1;
    const std::string who =
        is_one ? absl::StrCat(silent[0], ": ", why::AgentState(*shared_, silent[0]))
               : absl::StrCat("the karmada-agents of ", why::Some(silent), " are silent");
    fleet.stopped.push_back(
        absl::StrCat(who, ", and what is shown of ", is_one ? "it" : "these clusters",
                     " may be of an earlier time; ",
                     is_one ? why::AdviceForAgent(*shared_, silent[0])
                            : "see whether they run and reach the control plane"));
  }

  void AddUnknown(Fleet& fleet) {
    const bool knows_clusters = lists_.CouldRead(api::Clusters().gvk);
    if (!scope_.cluster.empty() && shared_->clusters.count(scope_.cluster) == 0 && knows_clusters) {
      fleet.unknown.push_back(absl::StrCat("there is no cluster ", scope_.cluster));
    }
    if (!scope_.ns.empty() && fleet.templates == 0 && LacksNamespace()) {
      fleet.unknown.push_back(absl::StrCat("there is no namespace ", scope_.ns));
    }
    if (!scope_.policy.empty()) AddUnknownPolicy(fleet);
  }

  bool LacksNamespace() {
    if (lists_.CouldRead(api::Namespaces().gvk)) return shared_->namespaces.count(scope_.ns) == 0;
    bool known = false;
    const kube::ObjectPtr space =
        lists_.Get(api::Namespaces(), {"", scope_.ns}, Weight::kHints, &known);
    return known && space == nullptr;
  }

  // Says that no policy of the name exists, or that it governs nothing.
  void AddUnknownPolicy(Fleet& fleet) const {
    Objects policies;
    for (const kube::ObjectPtr& policy : shared_->policies) {
      const bool is_there = scope_.ns.empty() || policy->ns().empty() || policy->ns() == scope_.ns;
      if (policy->name() == scope_.policy && is_there) policies.push_back(policy);
    }
    const bool knows_policies = lists_.CouldRead(api::PropagationPolicies().gvk) &&
                                lists_.CouldRead(api::ClusterPropagationPolicies().gvk);
    if (policies.empty() && knows_policies) {
      fleet.unknown.push_back(
          absl::StrCat("there is no policy ", scope_.policy,
                       scope_.ns.empty() ? "" : " that may govern templates of ", scope_.ns));
    }
    if (fleet.templates > 0 || !scope_.cluster.empty() || !lists_.is_whole()) return;
    for (const kube::ObjectPtr& policy : policies) {
      fleet.unknown.push_back(absl::StrCat(policy->Describe(), " governs no template",
                                           policy->ns().empty() && !scope_.ns.empty() ? " of " : "",
                                           policy->ns().empty() ? scope_.ns : "", "; ",
                                           flags_.AskAbout(policy->gvk(), policy->key())));
    }
  }

  const kube::Discovery& discovery_;
  const Scope& scope_;
  const why::Question& flags_;
  Lists lists_;
  Evidence evidence_;
  Objects bindings_, overrides_, spaces_;
  std::unique_ptr<why::Chain> shared_;
  std::unique_ptr<Glance> glance_;
  std::unique_ptr<Leftovers> leftovers_;
  std::vector<Candidate> candidates_;
  std::map<std::string, size_t> by_id_;  // By the permanent id of the binding.
};

}  // namespace

absl::StatusOr<Fleet> ReadFleet(kube::Client& client, const kube::Discovery& discovery,
                                const Scope& scope, const why::Question& flags,
                                const base::StopToken& stop) {
  return Reader(client, discovery, scope, flags, stop).Read();
}

}  // namespace lens::fleet
