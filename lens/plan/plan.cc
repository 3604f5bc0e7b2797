// A plan starts one simulated control plane. What is there now is applied first and comes to rest;
// then what shall be there is applied over it. So placements that need not change stay where they
// are, as they would on the real control plane. With a live control plane its state is brought over
// instead, bindings included, and the manifests of its Works are what is there now.
//
// A question about the fleet comes after that: what has been reached then, and what becomes of it
// anyway (evictions that are under way), is the state before, and what the changes of the fleet
// make of it the state after. Findings that hold before, too, are left out. What the changes cannot
// concern is not simulated, and is the same in both states.

#include "lens/plan/plan.h"

#include <algorithm>
#include <set>
#include <utility>

#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "api/resources.h"
#include "base/clock.h"
#include "base/status.h"
#include "lens/plan/applying.h"
#include "lens/plan/changed_fleet.h"
#include "lens/plan/concerned.h"
#include "lens/plan/dry_control_plane.h"
#include "lens/plan/dry_failover.h"
#include "lens/plan/fates.h"
#include "lens/plan/findings.h"
#include "lens/plan/passages.h"
#include "lens/plan/seeding.h"
#include "lens/plan/silent_clusters.h"
#include "lens/plan/under_way.h"
#include "sandbox/sim/kinds.h"

namespace lens::plan {
namespace {

bool HasRules(const std::vector<InputObject>& objects) {
  return std::any_of(objects.begin(), objects.end(), [](const InputObject& read) {
    return read.object.gvk() == api::InterpreterCustomizations().gvk;
  });
}

class Planner {
 public:
  Planner(const PlanRequest& request, DryControlPlane& plane) : request_(request), plane_(plane) {}

  absl::StatusOr<Plan> MakeLive(const base::StopToken& stop) {
    ASSIGN_OR_RETURN(LiveState live, request_.edits.empty()
                                         ? request_.live->ReadTouched(request_.objects, stop)
                                         : request_.live->ReadAll(request_.objects, stop));
    silent_agents_ = SilentAgentsOf(live, base::RealClock().Now());
    for (const kube::Object& binding : live.bindings) under_way_.CountTasks(binding);
    // Files may move anything.
    if (!request_.edits.empty() && request_.objects.empty()) {
      unconcerned_ = OutcomeOf(LeaveOutUnconcerned(request_.edits, live));
    }
    RETURN_IF_ERROR(TakeOver(live));
    // So that the loops see edits of what was there. New rules of the interpreter are not waited
    // for, so they have to be there when the loops start.
    if (!HasRules(request_.objects)) RETURN_IF_ERROR(plane_.Settle(stop));
    const std::vector<InputObject> objects = AppliedTo(live, request_.objects);
    applying_.ServeKinds(objects);
    applying_.CheckFields(objects);
    RETURN_IF_ERROR(applying_.Apply(objects));
    RETURN_IF_ERROR(plane_.Settle(stop));
    RETURN_IF_ERROR(FollowDependencies(stop));
    return request_.edits.empty() ? Result(OutcomeOf(live_)) : AskAboutFleet(stop);
  }

  absl::StatusOr<Plan> Make(const base::StopToken& stop) {
    applying_.ServeKinds(request_.base);
    applying_.ServeKinds(request_.objects);
    applying_.CheckFields(request_.objects);
    Outcome before;
    if (!request_.base.empty()) {
      RETURN_IF_ERROR(applying_.Apply(request_.base));
      RETURN_IF_ERROR(applying_.InventClusters(request_.clusters));
      RETURN_IF_ERROR(plane_.Settle(stop));
      ASSIGN_OR_RETURN(before, Read());
      RETURN_IF_ERROR(DeleteWhatIsGone());
      RETURN_IF_ERROR(plane_.Settle(stop));
    }
    RETURN_IF_ERROR(applying_.Apply(request_.objects));
    RETURN_IF_ERROR(applying_.InventClusters(request_.clusters));
    RETURN_IF_ERROR(plane_.Settle(stop));
    return request_.edits.empty() ? Result(before) : AskAboutFleet(stop);
  }

 private:
  absl::Status TakeOver(const LiveState& live) {
    for (const auto& [objects, out] : {std::pair(&live.bindings, &live_.bindings),
                                       {&live.works, &live_.works},
                                       {&live.templates, &live_.templates}}) {
      for (const kube::Object& object : *objects) out->push_back(kube::Share(object));
    }
    return Seed(live, plane_);
  }

  // Takes over what templates turn out to need, until nothing more of it is on the live control
  // plane.
  absl::Status FollowDependencies(const base::StopToken& stop) {
    while (true) {
      ASSIGN_OR_RETURN(const Outcome outcome, Read());
      std::vector<api::DependentReference> missing;
      for (const auto& [id, one] : outcome) {
        for (const api::DependentReference& reference : one.dependencies) {
          if (!Exists(plane_.backend(), reference)) missing.push_back(reference);
        }
      }
      ASSIGN_OR_RETURN(const LiveState more, request_.live->ReadNeeded(missing, stop));
      if (more.templates.empty()) return absl::OkStatus();
      RETURN_IF_ERROR(TakeOver(more));
      RETURN_IF_ERROR(plane_.Settle(stop));
    }
  }

  absl::Status DeleteWhatIsGone() {
    std::set<ObjectId> stay;
    for (const InputObject& read : request_.objects) stay.insert(ObjectId::Of(read.object));
    for (const InputObject& read : request_.base) {
      // A plan does not ask what the loss of a cluster or of a kind means.
      if (IsScenery(read.object) || stay.contains(ObjectId::Of(read.object))) continue;
      RETURN_IF_ERROR(plane_.Delete(read.object));
    }
    return absl::OkStatus();
  }

  absl::StatusOr<Outcome> Read() {
    ASSIGN_OR_RETURN(const State state, StateOf(plane_.backend()));
    Outcome outcome = OutcomeOf(state);
    AddHeldBack(state, plane_.Warnings(), plane_.interpreter(), outcome);
    return outcome;
  }

  absl::StatusOr<Outcome> ReadForResult() {
    ASSIGN_OR_RETURN(Outcome outcome, Read());
    if (request_.live != nullptr) LeaveOutDefinitions(outcome);
    RETURN_IF_ERROR(LeaveOutGoneOverrides(outcome));
    outcome.insert(unconcerned_.begin(), unconcerned_.end());
    return outcome;
  }

  std::vector<Finding> AllFindings(const Outcome& outcome) {
    return FindingsOf({request_.objects, outcome, plane_.backend(), request_.daemon,
                       plane_.Warnings(), plane_.assumed_kinds()});
  }

  absl::StatusOr<Plan> AskAboutFleet(const base::StopToken& stop) {
    // Policies of taints and quotas in the files.
    RETURN_IF_ERROR(applying_.ApplyForFleet(request_.base));
    RETURN_IF_ERROR(applying_.ApplyForFleet(request_.objects));
    ASSIGN_OR_RETURN(const std::vector<Departure> earlier,
                     DryFailover(plane_, base::RealClock().Now()).Run(stop));
    under_way_.CountPending(earlier);
    ASSIGN_OR_RETURN(Outcome before, ReadForResult());
    const std::vector<Finding> known = AllFindings(before);
    ASSIGN_OR_RETURN(FleetAftermath aftermath,
                     ChangeFleet(request_.edits, silent_agents_, plane_, stop));
    for (std::string& note : under_way_.Notes(request_.edits, aftermath.abandoned)) {
      aftermath.notes.push_back(std::move(note));
    }
    aftermath.earlier = earlier;
    // What is placed for the first time takes along what nothing has needed so far.
    if (request_.live != nullptr) RETURN_IF_ERROR(FollowDependencies(stop));
    ASSIGN_OR_RETURN(Outcome after, ReadForResult());
    KeepTargets(before);
    KeepTargets(after);
    Plan plan;
    plan.templates = Compare(before, after, request_.objects);
    LeaveOutFailedBefore(before, plan.templates);
    const Story story{request_.edits, aftermath, before, after, plan.templates, plane_};
    plan.what_if = WhatIfOf(story);
    plan.findings = NewFindings(known, AllFindings(after));
    LeaveOutFailuresIn(request_.edits, plan.findings);
    AddAbandoned(aftermath.abandoned, plan.templates, plan.findings);
    for (Finding& found : FindingsOf(story, *plan.what_if)) {
      plan.findings.push_back(std::move(found));
    }
    AddSilentClusters(plan.templates, request_.edits, silent_agents_, plane_.backend(),
                      plan.findings);
    std::sort(plan.findings.begin(), plan.findings.end());
    RETURN_IF_ERROR(CountClusters(plan));
    return plan;
  }

  // Leaves out what the loops have yet to delete.
  static void KeepTargets(Outcome& outcome) {
    for (auto& [id, one] : outcome) {
      const std::set<std::string>& targets = one.targets;
      std::erase_if(one.clusters,
                    [&](const auto& share) { return !targets.contains(share.first); });
    }
  }

  // What could not be made before the change either is no answer to a question about it.
  static void LeaveOutFailedBefore(const Outcome& before, std::vector<TemplateChange>& changes) {
    for (TemplateChange& change : changes) {
      const auto was = before.find(change.id);
      if (was == before.end()) continue;
      for (ClusterChange& share : change.clusters) {
        const auto had = was->second.clusters.find(share.cluster);
        const bool failed_before =
            had != was->second.clusters.end() && had->second.manifest.empty();
        if (failed_before && share.action == Action::kFail) share.action = Action::kNone;
      }
    }
  }

  // A loop fails to put something into a cluster that is no more, until the scheduler has taken it
  // out of the binding.
  static void LeaveOutFailuresIn(const std::vector<FleetEdit>& edits,
                                 std::vector<Finding>& findings) {
    for (const FleetEdit& edit : edits) {
      if (edit.kind != FleetEdit::Kind::kWithout) continue;
      std::erase_if(findings, [&](const Finding& found) {
        return found.code == finding::kLoopWarning &&
               absl::StrContains(found.message, absl::StrCat("cluster ", edit.cluster, ":"));
      });
    }
  }

  // Returns those that are not known, and templates of the files that the question is not about,
  // because no policy selects them. What the scheduler refuses has a finding of its own.
  static std::vector<Finding> NewFindings(const std::vector<Finding>& known,
                                          const std::vector<Finding>& now) {
    const std::set<Finding> all_known(known.begin(), known.end());
    std::vector<Finding> fresh;
    for (const Finding& found : now) {
      const bool is_known = found.code != finding::kNoPolicy && all_known.contains(found);
      if (!is_known && found.code != finding::kNotScheduled) fresh.push_back(found);
    }
    return fresh;
  }

  absl::StatusOr<Plan> Result(const Outcome& before) {
    ASSIGN_OR_RETURN(const Outcome after, ReadForResult());
    Plan plan;
    plan.templates = Compare(before, after, request_.objects);
    plan.findings = AllFindings(after);
    AddNotSimulated(after, plan.findings);
    AddSilentClusters(plan.templates, request_.edits, silent_agents_, plane_.backend(),
                      plan.findings);
    std::sort(plan.findings.begin(), plan.findings.end());
    RETURN_IF_ERROR(CountClusters(plan));
    return plan;
  }

  absl::Status CountClusters(Plan& plan) {
    ASSIGN_OR_RETURN(const std::vector<kube::ObjectPtr> clusters,
                     plane_.backend().List(api::Clusters().gvr(), "", kube::LabelSelector()));
    plan.clusters = clusters.size();
    return absl::OkStatus();
  }

  // The simulated server has definitions of its own, and those that were read for the sake of their
  // kinds. Live policies may claim them here, but nobody asks about them, and what they are in
  // members was not read.
  void LeaveOutDefinitions(Outcome& after) const {
    std::set<ObjectId> touched;
    for (const InputObject& read : request_.objects) touched.insert(ObjectId::Of(read.object));
    for (const kube::ObjectPtr& object : live_.templates) touched.insert(ObjectId::Of(*object));
    const kube::Gvk& definition = sandbox::kinds::Definitions().gvk;
    std::erase_if(after, [&](const Outcome::value_type& one) {
      const auto& [id, outcome] = one;
      return id.group == definition.group && id.kind == definition.kind && !touched.contains(id);
    });
  }

  // A manifest that is held back was made with override policies that may be gone.
  absl::Status LeaveOutGoneOverrides(Outcome& after) {
    std::set<std::string> there;
    for (const auto* resource : {&api::OverridePolicies(), &api::ClusterOverridePolicies()}) {
      ASSIGN_OR_RETURN(const std::vector<kube::ObjectPtr> overrides,
                       plane_.backend().List(resource->gvr(), "", kube::LabelSelector()));
      for (const kube::ObjectPtr& one : overrides) there.insert(one->Describe());
    }
    for (auto& [id, outcome] : after) {
      for (auto& [cluster, share] : outcome.clusters) {
        std::erase_if(share.overrides,
                      [&](const std::string& name) { return !there.contains(name); });
      }
    }
    return absl::OkStatus();
  }

  // Namespaces have a part in a plan, but it does not show that clusters get them.
  bool IsNewNamespace(const kube::Object& object, const Outcome& after) const {
    if (object.gvk() != api::Namespaces().gvk || after.contains(ObjectId::Of(object))) return false;
    const bool is_live = std::any_of(
        live_.templates.begin(), live_.templates.end(),
        [&](const kube::ObjectPtr& one) { return ObjectId::Of(*one) == ObjectId::Of(object); });
    return !is_live && std::none_of(request_.base.begin(), request_.base.end(),
                                    [&](const InputObject& one) { return one.object == object; });
  }

  void AddNotSimulated(const Outcome& after, std::vector<Finding>& findings) const {
    std::vector<const InputObject*> namespaces;
    for (const InputObject& read : request_.objects) {
      if (!IsSimulated(read.object)) {
        findings.push_back({read.place(), finding::kNotSimulated, read.object.Describe(),
                            "a plan takes no account of objects of this kind"});
      } else if (IsNewNamespace(read.object, after)) {
        namespaces.push_back(&read);
      }
    }
    if (namespaces.empty()) return;
    // One line for all of them.
    const size_t more = namespaces.size() - 1;
    findings.push_back(
        {namespaces[0]->place(), finding::kNotSimulated, namespaces[0]->object.Describe(),
         absl::StrCat("clusters get namespaces without a policy, which a plan does "
                      "not show",
                      more > 0 ? absl::StrCat(" (nor ", more, " more of the files)") : "")});
  }

  const PlanRequest& request_;
  DryControlPlane& plane_;
  Applying applying_{plane_};
  State live_;           // What was taken over.
  Outcome unconcerned_;  // What was not, because the question does not concern it.
  SilentAgents silent_agents_;
  EvictionsUnderWay under_way_;
};

}  // namespace

absl::StatusOr<Plan> MakePlan(const PlanRequest& request, const base::StopToken& stop) {
  ASSIGN_OR_RETURN(const std::unique_ptr<DryControlPlane> plane,
                   DryControlPlane::Start(request.daemon, request.crds));
  Planner planner(request, *plane);
  return request.live != nullptr ? planner.MakeLive(stop) : planner.Make(stop);
}

}  // namespace lens::plan
