#include "lens/why/reported.h"

#include <cstdint>
#include <string>

#include "absl/strings/numbers.h"
#include "absl/strings/str_cat.h"
#include "api/keys.h"
#include "api/programs.h"
#include "api/work.h"
#include "lens/why/agents.h"

namespace lens::why {
namespace {

using interpreter::Operation;

// Returns whether the object in the member was looked at, so that no report has to stand for it.
bool IsCompared(const Chain& chain, const std::string& cluster) {
  const auto answer = chain.members.find(cluster);
  return answer != chain.members.end() && answer->second.status.ok();
}

// Returns whether the status of the kind says how many replicas there are, which are those of the
// manifest: only where nobody has written rules of his own, and no autoscaler determines them.
bool ReportsReplicas(const Chain& chain, const kube::Object& manifest) {
  const absl::string_view kind = chain.asked.gvk.kind;
  if (chain.asked.gvk.group != "apps" || (kind != "Deployment" && kind != "StatefulSet")) {
    return false;
  }
  for (const Operation op : {Operation::kRetain, Operation::kInterpretStatus}) {
    if (chain.rules->RuleFor(chain.asked.gvk, op).layer != interpreter::kNativeLayer) return false;
  }
  return manifest.Label(api::kRetainReplicasLabel) != api::kRetainReplicasValue &&
         manifest.spec().Has("replicas");
}

// Returns what the report lacks of the manifest; "" for nothing, and when nothing is reported.
std::string WhatReportLacks(const Chain& chain, const kube::Object& work) {
  const api::WorkView view(work);
  const auto index = view.IndexOf(kube::Object::Make(chain.asked.gvk, chain.asked.key));
  const json::Value status = StatusIn(chain, work).status;
  if (!index.has_value() || status.empty() || !view.IsApplied()) return "";
  const kube::Object manifest(view.Manifests()[*index]);
  const int64_t reported = status["resourceTemplateGeneration"].AsInt(0);
  int64_t made_from = 0;
  const bool says =
      absl::SimpleAtoi(manifest.Annotation(api::kTemplateGenerationAnnotation), &made_from);
  if (says && reported > 0 && reported < made_from) {
    return absl::StrCat("generation ", reported, ", and its Work is of generation ", made_from);
  }
  if (!ReportsReplicas(chain, manifest)) return "";
  const int64_t wanted = manifest.spec()["replicas"].AsInt(0);
  const int64_t there = status["replicas"].AsInt(0);
  if (there == wanted) return "";
  return absl::StrCat(there, there == 1 ? " replica" : " replicas", " where its Work says ",
                      wanted);
}

}  // namespace

Findings ReportIsBehind(const Chain& chain) {
  Findings findings;
  if (chain.object == nullptr) return findings;
  for (const api::TargetCluster& target : chain.Targets()) {
    const auto work = chain.works.find(target.name);
    if (work == chain.works.end() || !IsPull(chain, target.name)) continue;
    if (IsCompared(chain, target.name)) continue;
    const std::string lack = WhatReportLacks(chain, *work->second);
    if (lack.empty()) continue;
    findings.push_back(
        {Step::kMember,
         Grade::kWaiting,
         absl::StrCat(ApplierIn(chain, target.name), " reports ", chain.Name(), " with ", lack),
         AgentVouches(chain, target.name) ? std::string(kWaitAMoment)
                                          : AdviceForAgent(chain, target.name),
         target.name,
         {},
         Program::kAgent});
  }
  return findings;
}

Findings MemberIsNotCompared(const Chain& chain) {
  Findings findings;
  if (chain.object == nullptr) return findings;
  for (const api::TargetCluster& target : chain.Targets()) {
    const bool was_asked = chain.members.count(target.name) > 0;
    const auto work = chain.works.find(target.name);
    if (!was_asked || IsCompared(chain, target.name) || work == chain.works.end()) continue;
    if (!AgentVouches(chain, target.name) || !api::WorkView(*work->second).IsApplied()) continue;
    findings.push_back(
        {Step::kMember,
         Grade::kNote,
         absl::StrCat(chain.Name(), " was not compared in ", target.name,
                      ", which does not answer from here; ", ApplierIn(chain, target.name),
                      " reports that it is applied"),
         absl::StrCat("nothing; to compare it: ask from where ", target.name, " answers"),
         target.name,
         {std::string(chain.members.at(target.name).status.message())}});
  }
  return findings;
}

std::string EarlierThanWork(const Chain& chain, const kube::Object& in_member,
                            const kube::Object& work) {
  const api::WorkView view(work);
  const auto index = view.IndexOf(kube::Object::Make(chain.asked.gvk, chain.asked.key));
  if (!index.has_value()) return "";
  const kube::Object manifest(view.Manifests()[*index]);
  int64_t there = 0, wanted = 0;
  const bool is_known =
      absl::SimpleAtoi(in_member.Annotation(api::kTemplateGenerationAnnotation), &there) &&
      absl::SimpleAtoi(manifest.Annotation(api::kTemplateGenerationAnnotation), &wanted);
  if (!is_known || there >= wanted) return "";
  return absl::StrCat("generation ", there, ", and its Work is of generation ", wanted);
}

}  // namespace lens::why
