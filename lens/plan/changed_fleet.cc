// The scheduler places at once what an edit moves. So the edits are written in steps, those of a
// step while the scheduler is held, and the loops come to rest after each: what closes a cluster
// comes before what opens one, and both before what takes workloads away (Step). Then the evictions
// run. A cluster that leaves is deleted with its execution namespace, as the cluster loop does it,
// and what still names it afterwards, because nobody schedules it or there is no room, loses it. A
// cluster that joins has the taint not-ready first: the scheduler places workloads there only when
// a taint goes (it takes no notice of a Cluster that is merely created).

#include "lens/plan/changed_fleet.h"

#include <algorithm>
#include <optional>
#include <set>
#include <utility>

#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "api/binding.h"
#include "api/cluster.h"
#include "api/keys.h"
#include "api/names.h"
#include "api/resources.h"
#include "api/toleration.h"
#include "base/clock.h"
#include "base/status.h"
#include "lens/plan/dry_failover.h"
#include "sandbox/sim/writes.h"

namespace lens::plan {
namespace {

using Kind = FleetEdit::Kind;

// Returns why nothing is evicted from a cluster; "" when the daemon would evict.
std::string WhyNoEviction(const config::Options& options) {
  if (!options.gates.Enabled(config::Gate::kFailover)) {
    return "the feature gate Failover is off (--feature-gates=Failover=true)";
  }
  if (!options.taint_eviction.no_execute) return "--enable-no-execute-taint-eviction is not set";
  if (!options.taint_eviction.manager) return "--enable-taint-manager is false";
  if (!options.ControllerEnabled("cluster")) return "the controller \"cluster\" does not run";
  return "";
}

// Returns whether room in the cluster is counted by nodes of certain sizes.
bool CountsByModels(const kube::Object& cluster) {
  return !cluster.status()["resourceSummary"]["allocatableModelings"].empty();
}

absl::Time WholeSeconds() {
  return absl::FromUnixSeconds(absl::ToUnixSeconds(base::RealClock().Now()));
}

// When an edit is written. No workload is placed by one of a step in a cluster that another edit of
// the same question closes.
enum class Step {
  kJoin,    // Nothing is placed in the new clusters yet.
  kClose,   // Moves nothing by itself.
  kOpen,    // What waits for a cluster may be placed.
  kLabel,   // The scheduler may take workloads away and place them again.
  kRemove,  // It does.
};
constexpr Step kSteps[] = {Step::kJoin, Step::kClose, Step::kOpen, Step::kLabel, Step::kRemove};

class FleetChange {
 public:
  FleetChange(const std::vector<FleetEdit>& edits, const SilentAgents& agents,
              DryControlPlane& plane)
      : edits_(edits),
        agents_(agents),
        plane_(plane),
        now_(WholeSeconds()),
        failover_(plane, now_) {}

  absl::StatusOr<FleetAftermath> Make(const base::StopToken& stop) {
    for (const Step step : kSteps) RETURN_IF_ERROR(MakeStep(step, stop));
    RETURN_IF_ERROR(TakeOutGone(stop));
    RETURN_IF_ERROR(DelayByLosses());
    ASSIGN_OR_RETURN(const std::vector<Departure> departures, failover_.Run(stop));
    for (const Departure& one : departures) {
      aftermath_.departures[{one.id, one.cluster}].push_back(one);
    }
    aftermath_.undecided = failover_.undecided();
    for (const FleetEdit& edit : edits_) RETURN_IF_ERROR(Explain(edit));
    return std::move(aftermath_);
  }

 private:
  // Writes the edits of the step at the same time, and lets the loops come to rest.
  absl::Status MakeStep(Step step, const base::StopToken& stop) {
    absl::StatusOr<bool> any;
    plane_.WhileHeld([&] { any = WriteStep(step); });
    RETURN_IF_ERROR(any.status());
    return *any ? plane_.SettleAfterChange(stop) : absl::OkStatus();
  }

  // Returns whether anything was written.
  absl::StatusOr<bool> WriteStep(Step step) {
    bool any = step == Step::kOpen && !joined_.empty();
    if (step == Step::kClose) {
      ASSIGN_OR_RETURN(any, CloseLeaving());
    }
    for (const FleetEdit& edit : edits_) {
      if (StepOf(edit) != step) continue;
      any = true;
      RETURN_IF_ERROR(MakeOne(edit));
    }
    if (step == Step::kOpen) tainted_.merge(joined_);
    for (const std::string& cluster : tainted_) RETURN_IF_ERROR(failover_.Taint(cluster));
    tainted_.clear();
    return any;
  }

  Step StepOf(const FleetEdit& edit) const {
    switch (edit.kind) {
      case Kind::kWithout:
        return Step::kRemove;
      case Kind::kJoin:
        return Step::kJoin;
      case Kind::kLost:
        return Step::kClose;
      case Kind::kTaint:
        return edit.removes && !IsReplaced(edit) ? Step::kOpen : Step::kClose;
      case Kind::kCapacity:
        return Step::kOpen;
      case Kind::kLabel:
        break;
    }
    // In a cluster that has just joined nothing is placed yet.
    return joined_.contains(edit.cluster) ? Step::kClose : Step::kLabel;
  }

  // Returns whether a taint with the key is also put there; their order counts then.
  bool IsReplaced(const FleetEdit& edit) const {
    return std::any_of(edits_.begin(), edits_.end(), [&](const FleetEdit& other) {
      return other.kind == Kind::kTaint && !other.removes && other.cluster == edit.cluster &&
             other.taint.key == edit.taint.key;
    });
  }

  // Cordons the clusters that are about to leave, if anything else is about to change, lest it
  // moves workloads there. Returns whether there are any.
  absl::StatusOr<bool> CloseLeaving() {
    if (edits_.size() == 1) return false;
    bool any = false;
    for (const FleetEdit& edit : edits_) {
      if (edit.kind != Kind::kWithout) continue;
      ASSIGN_OR_RETURN(const kube::ObjectPtr cluster, Find(edit.cluster));
      if (cluster == nullptr) continue;  // MakeOne reports it.
      RETURN_IF_ERROR(CheckAlone(edit));
      RETURN_IF_ERROR(Write(*cluster, Cordoned(edit.cluster)));
      any = true;
    }
    return any;
  }

  // A cluster that leaves cannot have another question as well.
  absl::Status CheckAlone(const FleetEdit& leaving) const {
    for (const FleetEdit& edit : edits_) {
      if (&edit == &leaving || edit.cluster != leaving.cluster) continue;
      return absl::InvalidArgumentError(
          absl::StrCat("two questions contradict each other: ", edit.cluster,
                       " leaves the fleet, and ", edit.ToString(), "; ask one of them"));
    }
    return absl::OkStatus();
  }

  absl::Status MakeOne(const FleetEdit& edit) {
    ASSIGN_OR_RETURN(const kube::ObjectPtr cluster, Find(edit.cluster));
    if (edit.kind == Kind::kJoin) {
      if (cluster == nullptr) return Join(edit);
      return absl::AlreadyExistsError(
          absl::StrCat("there is a cluster ", edit.cluster, " already"));
    }
    if (cluster == nullptr) {
      return absl::NotFoundError(absl::StrCat("there is no cluster ", edit.cluster));
    }
    before_.try_emplace(edit.cluster, cluster);
    return edit.kind == Kind::kWithout ? Remove(*cluster) : Write(*cluster, edit);
  }

  absl::StatusOr<kube::ObjectPtr> Find(const std::string& name) {
    return sandbox::FindObject(plane_.backend(), api::Clusters().gvr(), {"", name});
  }

  absl::Status Remove(const kube::Object& cluster) {
    gone_.insert(std::string(cluster.name()));
    RETURN_IF_ERROR(plane_.Delete(cluster));
    return plane_.Delete(
        kube::Object::Make(api::Namespaces().gvk, {"", api::ExecutionNamespace(cluster.name())}));
  }

  absl::Status Join(const FleetEdit& edit) {
    kube::Object cluster = edit.joining;
    std::vector<api::Taint> taints = api::ClusterView(cluster).Taints();
    taints.push_back({api::kNotReadyTaint, "", api::kNoSchedule, ""});
    api::SetTaints(cluster, taints);
    RETURN_IF_ERROR(base::Annotate(plane_.Apply(cluster), edit.ToString()));
    joined_.insert(edit.cluster);
    return absl::OkStatus();
  }

  absl::Status Write(const kube::Object& cluster, const FleetEdit& edit) {
    const kube::Gvr clusters = api::Clusters().gvr();
    const kube::Object after = Edited(cluster, edit, now_);
    if (after.status() != cluster.status()) {
      RETURN_IF_ERROR(sandbox::WriteStatus(plane_.backend(), clusters, cluster, after.status()));
    }
    json::Value patch = json::Value::Object();
    if (after.spec()["taints"] != cluster.spec()["taints"]) {
      patch.Set({"spec", "taints"}, after.spec()["taints"]);
    }
    if (edit.kind == Kind::kLabel) {
      patch.Set({"metadata", "labels", edit.key},
                edit.removes ? json::Value() : json::Value(edit.value));
    }
    // What the loops add because of conditions and labels.
    if (edit.kind == Kind::kLost || edit.kind == Kind::kLabel) tainted_.insert(edit.cluster);
    if (patch.empty()) return absl::OkStatus();
    sandbox::PatchRequest request;
    request.patch = std::move(patch);
    return base::Annotate(plane_.backend().Patch(clusters, cluster.key(), request).status(),
                          edit.ToString());
  }

  // The cluster loop waits for these bindings, and takes the cluster out of them in the end.
  absl::Status TakeOutGone(const base::StopToken& stop) {
    bool any = false;
    for (const auto* resource : {&api::ResourceBindings(), &api::ClusterResourceBindings()}) {
      ASSIGN_OR_RETURN(const std::vector<kube::ObjectPtr> bindings,
                       plane_.backend().List(resource->gvr(), "", kube::LabelSelector()));
      for (const kube::ObjectPtr& binding : bindings) {
        json::Value left = json::Value::Array();
        const json::Value& targets = binding->spec()["clusters"];
        for (const json::Value& target : targets.items()) {
          if (!gone_.contains(target["name"].ToString())) left.Append(target);
        }
        if (left.size() == targets.size()) continue;
        any = true;
        sandbox::PatchRequest request;
        request.patch.Set({"spec", "clusters"}, left.empty() ? json::Value() : std::move(left));
        RETURN_IF_ERROR(plane_.backend().Patch(resource->gvr(), binding->key(), request).status());
      }
    }
    return any ? plane_.SettleAfterChange(stop) : absl::OkStatus();
  }

  // What a loss causes comes later than what the other edits cause.
  absl::Status DelayByLosses() {
    for (const FleetEdit& edit : edits_) {
      if (edit.kind != Kind::kLost) continue;
      ASSIGN_OR_RETURN(const kube::ObjectPtr cluster, Find(edit.cluster));
      failover_.Delay(edit.cluster, TaintsByLoss(*cluster), UntilNotReady(*cluster));
    }
    return absl::OkStatus();
  }

  // Returns how long until Karmada counts the cluster as not ready when it is lost.
  absl::Duration UntilNotReady(const kube::Object& cluster) const {
    const config::ClusterMonitoring& flags = plane_.options().clusters;
    return api::ClusterView(cluster).IsPull() ? flags.monitor_grace_period
                                              : flags.failure_threshold;
  }

  // Returns the taints that the cluster has because it is lost.
  std::set<std::string> TaintsByLoss(const kube::Object& cluster) {
    std::set<std::string> names = TaintNames(cluster);
    for (const std::string& name : TaintNames(*before_[std::string(cluster.name())]))
      names.erase(name);
    for (const FleetEdit& edit : edits_) {
      if (edit.kind != Kind::kTaint || edit.removes || edit.cluster != cluster.name()) continue;
      names.erase(NameOf(edit.taint));
    }
    return names;
  }

  absl::Status Explain(const FleetEdit& edit) {
    ASSIGN_OR_RETURN(const kube::ObjectPtr cluster, Find(edit.cluster));
    switch (edit.kind) {
      case Kind::kWithout:
        ExplainLeaving(edit);
        break;
      case Kind::kLost:
        ExplainLoss(edit, *cluster);
        break;
      case Kind::kTaint:
        ExplainTaint(edit, *cluster);
        break;
      case Kind::kLabel:
        if (IsJoining(edit.cluster)) break;  // Nothing is there that could be taken away.
        if (edit.removes && before_[edit.cluster]->labels()[edit.key].is_null()) {
          Note(edit, absl::StrCat("has no label ", edit.key, ": there is nothing to take off"));
          break;
        }
        Note(edit,
             "has other labels: karmada-scheduler looks again at what its placements allow "
             "there. Workloads whose replicas are divided stay until they are placed again");
        break;
      case Kind::kCapacity:
        Note(edit,
             absl::StrCat("has other room: nothing that is placed moves because of that; what "
                          "waits for room is tried again",
                          CountsByModels(*before_[edit.cluster])
                              ? ". How its room is spread over nodes (spec.resourceModels) is not "
                                "counted then"
                              : ""));
        break;
      case Kind::kJoin:
        Note(edit,
             "has joined: karmada-scheduler looks again at what may be placed there. "
             "Workloads whose replicas are divided stay until they are placed again");
    }
    return absl::OkStatus();
  }

  bool IsJoining(const std::string& cluster) const {
    return std::any_of(edits_.begin(), edits_.end(), [&](const FleetEdit& edit) {
      return edit.kind == Kind::kJoin && edit.cluster == cluster;
    });
  }

  void Note(const FleetEdit& edit, absl::string_view text) {
    aftermath_.notes.push_back(absl::StrCat(edit.cluster, " ", text, "."));
  }

  void ExplainLeaving(const FleetEdit& edit) {
    const kube::ObjectPtr& cluster = before_[edit.cluster];
    const std::optional<SilentCluster> silent = WhySilent(*cluster, agents_);
    if (!silent.has_value()) {
      Note(edit,
           "is taken out of the fleet as by karmadactl unjoin: what is there is deleted at "
           "once, and does not wait for its replacement");
      return;
    }
    Note(edit, absl::StrCat("is taken out of the fleet while it does not answer (", silent->why,
                            "): nothing is deleted there. What it has runs on there, also when it "
                            "answers again, and belongs to nobody"));
    aftermath_.abandoned[edit.cluster] = {cluster, *silent};
  }

  void ExplainLoss(const FleetEdit& edit, const kube::Object& cluster) {
    aftermath_.lost.insert(edit.cluster);
    const std::set<std::string> added = TaintsByLoss(cluster);
    const std::string after =
        absl::StrCat(" ", absl::FormatDuration(UntilNotReady(cluster)), " after it is lost");
    const std::string already = NotReadySince(*before_[edit.cluster]);
    std::string text = already.empty() ? absl::StrCat("counts as not ready", after)
                                       : absl::StrCat("is already ", already);
    if (!already.empty() && added.empty()) {
      absl::StrAppend(&text, ": that it is lost gives it no other taint");
    } else if (!added.empty()) {
      absl::StrAppend(&text, ", and gets ", absl::StrJoin(added, ", "),
                      already.empty() ? "" : after, ": nothing new is placed there");
    }
    Note(edit, text);
    Hold(edit, cluster,
         "no ClusterTaintPolicy gives a cluster that is not ready a taint with the effect "
         "NoExecute");
  }

  // Returns whether there was, or is put by another question, what the edit takes off.
  bool Removes(const FleetEdit& edit) {
    if (IsReplaced(edit)) return true;
    const std::vector<api::Taint> taints = api::ClusterView(*before_[edit.cluster]).Taints();
    return std::any_of(taints.begin(), taints.end(), [&](const api::Taint& one) {
      return one.key == edit.taint.key &&
             (edit.taint.effect.empty() || one.effect == edit.taint.effect);
    });
  }

  void ExplainTaint(const FleetEdit& edit, const kube::Object& cluster) {
    if (edit.removes && !Removes(edit)) {
      Note(edit, edit.taint.key == api::kUnschedulableTaint
                     ? "is not cordoned: there is nothing to take off"
                     : "has no such taint: there is nothing to take off");
    } else if (edit.removes) {
      Note(edit, "has a taint less: karmada-scheduler looks again at what may be placed there");
    } else if (edit.taint.effect == api::kNoExecute) {
      Hold(edit, cluster, "");
      if (WhyNoEviction(plane_.options()).empty()) {
        Note(edit, "has a taint that evicts what does not tolerate it for ever");
      }
    } else if (edit.taint.effect == api::kNoSchedule) {
      Note(edit,
           "gets nothing that is not there already; what is there stays, and may get more "
           "replicas: the effect NoSchedule moves nothing");
    } else {
      Note(edit, absl::StrCat("has a taint with the effect ", edit.taint.effect,
                              ", which Karmada takes no notice of"));
    }
  }

  // Records why what is in the cluster is not moved. `without_taint` says why it has no taint that
  // evicts.
  void Hold(const FleetEdit& edit, const kube::Object& cluster, absl::string_view without_taint) {
    std::string why = WhyNoEviction(plane_.options());
    const bool evicts = why.empty();
    if (evicts && api::NoExecuteTaints(api::ClusterView(cluster)).empty()) {
      why = std::string(without_taint);
    }
    if (!why.empty()) Note(edit, absl::StrCat("keeps what it has, for nothing is evicted: ", why));
    if (why.empty()) why = kTolerated;
    aftermath_.held[edit.cluster] = std::move(why);
  }

  const std::vector<FleetEdit>& edits_;
  const SilentAgents& agents_;
  DryControlPlane& plane_;
  const absl::Time now_;
  DryFailover failover_;
  std::set<std::string> tainted_;  // Clusters that the loops may taint in this step.
  std::set<std::string> joined_;   // Clusters that still have to become ready.
  std::set<std::string> gone_;
  std::map<std::string, kube::ObjectPtr> before_;
  FleetAftermath aftermath_;
};

}  // namespace

absl::StatusOr<FleetAftermath> ChangeFleet(const std::vector<FleetEdit>& edits,
                                           const SilentAgents& agents, DryControlPlane& plane,
                                           const base::StopToken& stop) {
  FleetChange change(edits, agents, plane);
  return change.Make(stop);
}

}  // namespace lens::plan
