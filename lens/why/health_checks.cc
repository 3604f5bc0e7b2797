// A check of what is more particular comes before the one of health in general: a Job that has
// failed, Pods that do not run, a pause. The reasons are those of health.h and pods.h. No state.

#include "lens/why/health_checks.h"

#include <string>
#include <utility>
#include <vector>

#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "api/reasons.h"
#include "api/work.h"
#include "lens/why/health.h"
#include "lens/why/interpretation.h"
#include "lens/why/places.h"
#include "lens/why/pods.h"

namespace lens::why {
namespace {

constexpr Step kStep = Step::kMember;
// Of a Deployment that has been rolled out.
constexpr char kRevisionAnnotation[] = "deployment.kubernetes.io/revision";
// A job controller makes the first Pods within seconds.
constexpr absl::Duration kTimeForPods = absl::Minutes(1);
constexpr char kFailedBecause[] = " failed, err: ";  // In the messages of events.

}  // namespace

// It has arrived, and it is what its health calls healthy; but nobody runs it again.
Findings MemberJobHasFailed(const Chain& chain) {
  return ForEachPlace(chain, [&](const Place& place) -> Finding {
    std::string why = FailureOfJob(chain, place.cluster, place.work);
    if (why.empty()) return {};
    const std::vector<PodTrouble> troubles = PodTroublesIn(chain, place.cluster);
    if (!troubles.empty()) absl::StrAppend(&why, "; ", troubles[0].text);
    return {kStep, Grade::kStuck,
            absl::StrCat(chain.Name(), " has failed in ", place.cluster, ": ", why),
            absl::StrCat(LookAtIt(chain, place.cluster),
                         "; it runs again only when it is deleted and made again, by which its "
                         "Pods and their logs are lost")};
  });
}

namespace {

// Returns whether the Job has come to an end, stands still, or wants no Pods.
bool WantsNoPods(const kube::Object& job) {
  for (const char* ended : {"Complete", "Failed", "SuccessCriteriaMet", "FailureTarget"}) {
    if (kube::IsConditionTrue(job.status()["conditions"], ended)) return true;
  }
  const json::Value& spec = job.spec();
  return spec["suspend"].AsBool() || spec.Has("managedBy") || spec["parallelism"].AsInt(1) == 0 ||
         spec["completions"].AsInt(1) == 0;
}

// Returns a finding for a Job that is there for some time and has never had a Pod. Its events in
// the member, which say why, are not read.
Finding NoPodsOf(const Chain& chain, const Place& place) {
  const auto read = chain.pods.find(place.cluster);
  const bool has_none =
      read != chain.pods.end() && read->second.status.ok() && read->second.pods.empty();
  if (!has_none || place.answer == nullptr || place.answer->object == nullptr) return {};
  const kube::Object& job = *place.answer->object;
  for (const char* counter : {"active", "succeeded", "failed", "terminating"}) {
    if (job.status()[counter].AsInt(0) > 0) return {};
  }
  const auto made = kube::ParseTime(job.metadata()["creationTimestamp"].AsString());
  if (WantsNoPods(job) || !made.ok() || chain.now - *made < kTimeForPods) return {};
  const kube::ObjectKey& key = chain.asked.key;
  return {kStep, Grade::kStuck,
          absl::StrCat(chain.Name(), " does not get on in ", place.cluster, ": it is there since ",
                       kube::FormatTime(*made), " and has no Pod"),
          absl::StrCat("see what keeps its Pods from being made, such as a ResourceQuota; in ",
                       place.cluster, ": kubectl -n ", key.ns,
                       " get events --field-selector involvedObject.kind=Job,involvedObject.name=",
                       key.name)};
}

}  // namespace

// Jobs have no health; but their Pods say what keeps them from running.
Findings MemberJobDoesNotRun(const Chain& chain) {
  return ForEachPlace(chain, [&](const Place& place) -> Finding {
    const bool is_job = chain.asked.gvk.kind == "Job";
    if (!is_job || HealthIn(chain, place.work) == api::kUnhealthy) return {};
    if (!FailureOfJob(chain, place.cluster, place.work).empty()) return {};
    const std::vector<PodTrouble> troubles = PodTroublesIn(chain, place.cluster);
    if (troubles.empty()) return NoPodsOf(chain, place);
    return {
        kStep, Grade::kStuck,
        absl::StrCat(chain.Name(), " does not get on in ", place.cluster, ": ", troubles[0].text),
        troubles[0].advice};
  });
}

namespace {

// Returns whether the Deployment has been paused since before its first rollout in the cluster, so
// that it has no ReplicaSet there and no Pods: that is what makes it unhealthy.
bool HasNeverRolledOut(const Chain& chain, const Place& place) {
  const bool is_paused = StandstillIn(chain, place.work).field == "paused";
  if (!is_paused || HealthIn(chain, place.work) != api::kUnhealthy) return false;
  const bool is_here = place.answer != nullptr && place.answer->object != nullptr;
  const bool has_revision =
      is_here && !place.answer->object->Annotation(kRevisionAnnotation).empty();
  const json::Value status =
      is_here ? place.answer->object->status() : StatusIn(chain, place.work).status;
  return !status.is_null() && !has_revision && status["replicas"].AsInt(0) == 0;
}

}  // namespace

Findings MemberObjectIsPaused(const Chain& chain) {
  return ForEachPlace(chain, [&](const Place& place) -> Finding {
    if (!HasNeverRolledOut(chain, place)) return {};
    const Standstill standstill = StandstillIn(chain, place.work);
    const bool by_template = standstill.overrides.empty();
    Finding finding{
        kStep, Grade::kStuck,
        absl::StrCat(chain.Name(), " is paused since before its first rollout (spec.paused of ",
                     by_template ? "the template" : standstill.overrides, "), so ", place.cluster,
                     " makes no Pods of it"),
        by_template ? AdviceForPaused(chain) : AdviceForStandstill(standstill)};
    finding.is_wanted = true;
    return finding;
  });
}

Findings MemberObjectIsUnhealthy(const Chain& chain) {
  return ForEachPlace(chain, [&](const Place& place) -> Finding {
    if (HealthIn(chain, place.work) != api::kUnhealthy) return {};
    if (HasNeverRolledOut(chain, place)) return {};
    Finding finding{
        kStep, Grade::kStuck,
        absl::StrCat(chain.Name(), " is in ", place.cluster, ", but it is not healthy there")};
    finding.evidence = ReasonsForBadHealth(chain, place.cluster, place.work);
    finding.advice = AdviceForBadHealth(chain, place.cluster, finding.evidence);
    if (!finding.evidence.empty()) absl::StrAppend(&finding.cause, ": ", finding.evidence[0]);
    const std::string unread = WhyPodsUnread(chain, place.cluster);
    if (!unread.empty()) {
      absl::StrAppend(&finding.cause, " (its Pods there could not be read: ", unread, ")");
    }
    return finding;
  });
}

// Webhooks and scripts that the daemon asks about what it finds in members.
Findings StatusIsNotInterpreted(const Chain& chain) {
  return ForEachPlace(chain, [&](const Place& place) -> Finding {
    std::string failed = StandingFailure(chain, place.work, api::reason::kInterpretHealthFailed,
                                         api::reason::kInterpretHealthSucceed);
    const char* what = "health";
    if (failed.empty()) {
      what = "status";
      failed = StandingFailure(chain, place.work, api::reason::kReflectStatusFailed,
                               api::reason::kReflectStatusSucceed);
    }
    if (failed.empty()) return {};
    // What the object is called stands before the reason, too.
    const size_t reason = failed.find(kFailedBecause);
    if (reason != std::string::npos) failed.erase(0, reason + sizeof kFailedBecause - 1);
    if (absl::EndsWith(failed, ".")) failed.pop_back();
    return {kStep, Grade::kStuck,
            absl::StrCat("the ", what, " of ", chain.Name(), " in ", place.cluster,
                         " is not known: ", failed),
            AdviceForInterpreter(chain, failed)};
  });
}

// The daemon aggregates into the binding and into the template, and reports each in an event on it.
Findings StatusIsNotAggregated(const Chain& chain) {
  if (chain.binding == nullptr) return {};
  for (const kube::ObjectPtr& about : {chain.binding, chain.object}) {
    if (about == nullptr) continue;
    const std::string failed = StandingFailure(chain, *about, api::reason::kAggregateStatusFailed,
                                               api::reason::kAggregateStatusSucceed);
    if (failed.empty()) continue;
    return {{kStep, Grade::kStuck,
             absl::StrCat("the status of ", chain.Name(),
                          " in the members does not reach the template: ", failed),
             AdviceForInterpreter(chain, failed)}};
  }
  return {};
}

}  // namespace lens::why
