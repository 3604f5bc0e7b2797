// Checks of the members: whether a cluster can be reached, what it says to the manifest, and what
// it holds.

#include <algorithm>
#include <string>
#include <utility>
#include <vector>

#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "api/binding.h"
#include "api/cluster.h"
#include "api/keys.h"
#include "api/programs.h"
#include "api/resources.h"
#include "api/work.h"
#include "kube/meta/patch_paths.h"
#include "lens/why/agents.h"
#include "lens/why/checks.h"
#include "lens/why/expected.h"
#include "lens/why/health_checks.h"
#include "lens/why/lost_cluster.h"
#include "lens/why/places.h"
#include "lens/why/refusals.h"
#include "lens/why/reported.h"
#include "lens/why/seen_now.h"

namespace lens::why {
namespace {

constexpr Step kStep = Step::kMember;
constexpr size_t kPathsShown = 5, kPathsInEvidence = 50;

const json::Value* Applied(const kube::Object& work) {
  return kube::FindCondition(api::WorkView(work).Conditions(), api::kWorkApplied);
}

Findings ClusterHasNoCredentials(const Chain& chain) {
  return ForEachPlace(chain, [&](const Place& place) -> Finding {
    if (place.object == nullptr || !api::ClusterView(*place.object).IsPush()) return {};
    const api::ClusterView view(*place.object);
    std::string what;
    if (view.ApiEndpoint().empty()) {
      what = "its Cluster has no spec.apiEndpoint";
    } else if (view.SecretRef().name.empty()) {
      what = "its Cluster names no Secret (spec.secretRef)";
    } else if (place.answer != nullptr && absl::IsFailedPrecondition(place.answer->status) &&
               chain.CouldRead(api::Secrets().gvk, view.SecretRef())) {
      what = std::string(place.answer->status.message());
    }
    if (what.empty()) return {};
    return {kStep, Grade::kStuck,
            absl::StrCat("nothing reaches ", place.cluster,
                         ", because there are no credentials "
                         "for it: ",
                         what),
            AdviceForNoClient(*place.object, what)};
  });
}

// Comes before the cluster's own condition, which only says that it is not reachable.
Findings ClusterRefusesCredentials(const Chain& chain) {
  return ForEachPlace(chain, [&](const Place& place) -> Finding {
    if (place.object == nullptr || !api::ClusterView(*place.object).IsPush()) return {};
    if (place.answer == nullptr || !absl::IsUnauthenticated(place.answer->direct)) return {};
    const kube::ObjectKey secret = api::ClusterView(*place.object).SecretRef();
    return {kStep, Grade::kStuck,
            absl::StrCat("the cluster ", place.cluster, " refuses Karmada's credentials (Secret ",
                         secret.ToString(), "): ", place.answer->direct.message()),
            "put a valid token into that Secret, or join the cluster again (karmadactl join)"};
  });
}

Findings ClusterIsNotReady(const Chain& chain) {
  return ForEachPlace(chain, [&](const Place& place) -> Finding {
    if (place.object == nullptr || api::ClusterView(*place.object).IsReady()) return {};
    const api::ClusterView view(*place.object);
    const json::Value* ready = kube::FindCondition(view.Conditions(), api::kClusterReady);
    const bool arrived = api::WorkView(place.work).IsApplied();
    std::string why = "it has no condition Ready yet";
    if (ready != nullptr) {
      why = absl::StrCat((*ready)["reason"].AsString(), ": ", (*ready)["message"].AsString());
    }
    const std::string agent = AgentState(chain, place.cluster);
    if (!agent.empty()) absl::StrAppend(&why, "; ", agent);
    Finding finding{kStep, Grade::kStuck,
                    absl::StrCat("the cluster ", place.cluster, " is not ready",
                                 ready == nullptr ? "" : Since(*ready), " (", why, "): "),
                    view.IsPull() ? AdviceForAgent(chain, place.cluster)
                                  : AdviceForNotReady(chain, *place.object)};
    absl::StrAppend(&finding.cause, ShareOf(chain, place.cluster), chain.Name(),
                    arrived ? " was there, and no change reaches it" : " does not reach it");
    if (arrived) finding.evidence.push_back(WhyItStays(*place.object));
    return finding;
  });
}

// A Namespace that was there before is used as it is, with what Karmada puts into it.
Finding NamespaceWasThere(const Chain& chain, const Place& place) {
  return {kStep, Grade::kNote,
          absl::StrCat(chain.Name(), " was in ", place.cluster,
                       " before Karmada, which leaves its labels and annotations as they are; "
                       "objects in it arrive all the same"),
          absl::StrCat("nothing; ", AdviceForForeign(chain, place.work))};
}

Findings MemberRefusesIt(const Chain& chain) {
  return ForEachPlace(chain, [&](const Place& place) -> Finding {
    const json::Value* applied = Applied(place.work);
    if (applied == nullptr || (*applied)["status"].AsString() != "False") return {};
    const std::string message = (*applied)["message"].ToString();
    const std::string shown = ShortMessage(message);
    const Refusal refusal = ExplainRefusalNow(chain, place.cluster, message);
    if (refusal.says_all && chain.IsNamespace()) return NamespaceWasThere(chain, place);
    Finding finding{
        kStep, Grade::kStuck,
        absl::StrCat(chain.Name(), " cannot be applied in ", place.cluster, ": ", shown),
        "mend what the message says; it is tried again by itself"};
    if (!refusal.cause.empty()) {
      finding.cause = absl::StrCat(chain.Name(), " does not arrive: ", refusal.cause);
      if (!refusal.says_all) absl::StrAppend(&finding.cause, " (", shown, ")");
      finding.advice = refusal.advice;
    }
    finding.kind = refusal.kind;
    if (refusal.is_over) {
      finding.grade = Grade::kWaiting;
      finding.waits_for = AppliesIn(chain, place.cluster);
    }
    const absl::StatusOr<json::Value> difference = DifferenceIn(chain, place.cluster);
    if (refusal.says_all && difference.ok() && !difference->empty()) {
      finding.evidence.push_back(absl::StrCat("what is there differs from the manifest in ",
                                              kube::PathsOf(*difference, kPathsInEvidence)));
    }
    if (refusal.says_all || shown.size() < message.size()) finding.evidence.push_back(message);
    return finding;
  });
}

Findings NotAppliedYet(const Chain& chain) {
  return ForEachPlace(chain, [&](const Place& place) -> Finding {
    if (Applied(place.work) != nullptr) return {};
    const bool pull = IsPull(chain, place.cluster);
    return {
        kStep,
        Grade::kWaiting,
        absl::StrCat(pull ? api::kAgent : api::kControllerManager, " has not applied the Work of ",
                     chain.Name(), " in ", place.cluster, " yet"),
        pull ? AdviceForAgent(chain, place.cluster) : kWaitAMoment,
        "",
        {},
        AppliesIn(chain, place.cluster)};
  });
}

Findings MemberHasNoObject(const Chain& chain) {
  return ForEachPlace(chain, [&](const Place& place) -> Finding {
    if (place.answer == nullptr || !place.answer->status.ok()) return {};
    if (place.answer->object != nullptr || !api::WorkView(place.work).IsApplied()) return {};
    return {kStep,
            Grade::kWaiting,
            absl::StrCat("the cluster ", place.cluster, " has lost ", chain.Name(),
                         ", which was applied there"),
            absl::StrCat(ApplierIn(chain, place.cluster),
                         " creates it again at once; see who deletes it"),
            "",
            {},
            AppliesIn(chain, place.cluster)};
  });
}

// Somebody deletes what the Work wants; it comes back when it is gone.
Findings MemberObjectIsBeingDeleted(const Chain& chain) {
  return ForEachPlace(chain, [&](const Place& place) -> Finding {
    if (place.answer == nullptr || place.answer->object == nullptr) return {};
    if (!place.answer->object->IsDeleting()) return {};
    const std::string waits = WhatItWaitsFor(*place.answer->object);
    return {kStep,
            waits.empty() ? Grade::kWaiting : Grade::kStuck,
            absl::StrCat(chain.Name(), " is being deleted in ", place.cluster, ", by others than ",
                         "Karmada", waits.empty() ? "" : absl::StrCat(", and waits", waits)),
            "see who deletes it, and why it does not end; it is created again afterwards",
            "",
            {},
            AppliesIn(chain, place.cluster)};
  });
}

// The Work of a cluster that is left goes before the member's object has gone.
Findings MemberObjectIsLeaving(const Chain& chain) {
  if (chain.binding == nullptr || chain.object == nullptr) return {};
  Findings findings;
  for (const auto& [cluster, answer] : chain.members) {
    if (answer.object == nullptr || !answer.object->IsDeleting()) continue;
    const bool ours = answer.object->Label(api::kManagedLabel) == api::kManagedValue;
    const auto expected = api::BindingView(*chain.binding).ExpectedClusters();
    if (!ours || expected.count(cluster) > 0 || chain.works.count(cluster) > 0) continue;
    const std::string waits = WhatItWaitsFor(*answer.object);
    const std::string text = absl::StrCat(chain.Name(), " is still in ", cluster,
                                          ", which it leaves: it is being deleted there",
                                          waits.empty() ? "" : " and waits", waits);
    findings.push_back({kStep, waits.empty() ? Grade::kWaiting : Grade::kStuck, text,
                        waits.empty() ? "see in that cluster why it does not end"
                                      : AdviceForHeld(*answer.object, cluster),
                        cluster});
  }
  return findings;
}

// Returns whether the Work says that an object which is not Karmada's is taken over.
bool Overwrites(const Chain& chain, const kube::Object& work) {
  const api::WorkView view(work);
  const auto index = view.IndexOf(kube::Object::Make(chain.asked.gvk, chain.asked.key));
  if (!index.has_value()) return false;
  return kube::Object(view.Manifests()[*index]).Annotation(api::kConflictResolutionAnnotation) ==
         api::kConflictOverwrite;
}

Findings MemberObjectIsForeign(const Chain& chain) {
  return ForEachPlace(chain, [&](const Place& place) -> Finding {
    if (place.answer == nullptr || place.answer->object == nullptr) return {};
    if (place.answer->object->Label(api::kManagedLabel) == api::kManagedValue) return {};
    if (!api::WorkView(place.work).IsApplied() || Overwrites(chain, place.work)) return {};
    if (chain.IsNamespace()) return NamespaceWasThere(chain, place);
    return {kStep, Grade::kStuck,
            absl::StrCat("somebody removed the label ", api::kManagedLabel, " from ", chain.Name(),
                         " in ", place.cluster, ", so Karmada leaves it alone"),
            AdviceForForeign(chain, place.work)};
  });
}

// Returns whether the difference shows that somebody changed the object after Karmada, so that the
// daemon acts. It looks at the generation and at labels; a value that the member's API server
// writes in another form stays as it is.
bool WillBePutBack(const kube::Object& observed, const json::Value& difference) {
  if (difference["metadata"].Has("labels")) return true;
  absl::Time ours = absl::InfinitePast();
  absl::Time others = absl::InfinitePast();
  for (const json::Value& entry : observed.metadata()["managedFields"].items()) {
    const auto time = kube::ParseTime(entry["time"].AsString());
    if (!time.ok()) continue;
    if (absl::StartsWith(entry["manager"].AsString(), "karmada-")) {
      ours = std::max(ours, *time);
    } else if (kube::OwnsChanged(entry["fieldsV1"], difference)) {
      others = std::max(others, *time);
    }
  }
  return others != absl::InfinitePast() && others >= ours;
}

Findings MemberObjectDiffers(const Chain& chain) {
  return ForEachPlace(chain, [&](const Place& place) -> Finding {
    if (!api::WorkView(place.work).IsApplied()) return {};
    const absl::StatusOr<json::Value> difference = DifferenceIn(chain, place.cluster);
    if (!difference.ok() || difference->empty()) return {};
    const std::string earlier = EarlierThanWork(chain, *place.answer->object, place.work);
    if (!earlier.empty()) {
      const bool is_silent = IsPull(chain, place.cluster) && !AgentVouches(chain, place.cluster);
      return {kStep,
              Grade::kWaiting,
              absl::StrCat(ApplierIn(chain, place.cluster), " has not applied the last change of ",
                           chain.Name(), " in ", place.cluster, " yet: it has ", earlier),
              is_silent ? AdviceForAgent(chain, place.cluster) : kWaitAMoment,
              "",
              {kube::PathsOf(*difference, kPathsInEvidence)},
              AppliesIn(chain, place.cluster)};
    }
    const bool acts = WillBePutBack(*place.answer->object, *difference);
    return {kStep,
            acts ? Grade::kWaiting : Grade::kNote,
            absl::StrCat(chain.Name(), " in ", place.cluster, " differs from its Work in ",
                         kube::PathsOf(*difference, kPathsShown)),
            acts ? absl::StrCat(ApplierIn(chain, place.cluster),
                                " puts it back at once; if it does not last, somebody else in the "
                                "member changes it (see retention in the interpreter)")
                 : "nothing shows that somebody changed it after Karmada; the member may write the "
                   "value in another form, and it is compared again when the object changes there",
            "",
            // The values may be a Secret's.
            {kube::PathsOf(*difference, kPathsInEvidence)},
            AppliesIn(chain, place.cluster)};
  });
}

constexpr Check kChecks[] = {
    {"no-credentials", "Does Karmada have credentials for the cluster?",
     "there are no credentials for $", ClusterHasNoCredentials},
    {"credentials-refused", "Does the cluster accept them?", "$ refuses Karmada's credentials",
     ClusterRefusesCredentials},
    {"cluster-not-ready", "Is the cluster ready?", "$ is not ready", ClusterIsNotReady},
    {"member-refuses", "Does the member accept the manifest?",
     "$ does not take it:", MemberRefusesIt},
    {"not-applied", "Has the Work been applied?", "its Work for $ has not been applied yet",
     NotAppliedYet},
    {"member-lost-it", "Does the member have the object?", "$ has lost it", MemberHasNoObject},
    {"member-deleting", "Is the member's object being deleted?",
     "it is being deleted in $:", MemberObjectIsBeingDeleted},
    {"member-leaving", "Has every other member lost the object?",
     "it has not left $ yet:", MemberObjectIsLeaving},
    {"member-foreign", "Is the member's object Karmada's?", "in $ it is not Karmada's any more",
     MemberObjectIsForeign},
    {"member-differs", "Is the member's object what the Work says?",
     "it differs in $:", MemberObjectDiffers},
    {"member-failed", "Has the Job in the member failed?",
     "it has failed in $:", MemberJobHasFailed},
    {"member-job", "Do the Pods of the Job in the member run?",
     "its Pods do not run in $:", MemberJobDoesNotRun},
    {"member-paused", "Is the Deployment paused before its first rollout?",
     "it is paused, and has never been rolled out in $", MemberObjectIsPaused},
    {"member-unhealthy", "Is the member's object healthy?",
     "it is not healthy in $:", MemberObjectIsUnhealthy},
    {"status-not-interpreted", "Is its status understood?",
     "its status in $ is not known:", StatusIsNotInterpreted},
    {"status-not-aggregated", "Does its status come back?",
     "its status does not come back:", StatusIsNotAggregated},
};

}  // namespace

absl::Span<const Check> MemberChecks() { return kChecks; }

}  // namespace lens::why
