// Who sets a taint is known by its key, by the ClusterTaintPolicies, or by the field that the API
// server keeps of who has written the list last.

#include "lens/why/own_taints.h"

#include <algorithm>

#include "absl/strings/str_cat.h"
#include "api/cluster.h"
#include "api/cluster_taint_policy.h"
#include "api/keys.h"
#include "api/programs.h"
#include "api/resources.h"
#include "api/toleration.h"

namespace lens::why {
namespace {

std::string TextOf(const api::Taint& taint) {
  return absl::StrCat(taint.key, taint.value.empty() ? "" : "=", taint.value, ":", taint.effect);
}

bool KeepsAway(const api::Taint& taint) {
  return taint.effect == api::kNoSchedule || taint.effect == api::kNoExecute;
}

// Returns the name of the client that has written the list of taints, as the API server keeps it;
// "" when it is not known.
std::string WriterOfTaints(const kube::Object& cluster) {
  for (const json::Value& entry : cluster.metadata()["managedFields"].items()) {
    if (entry["fieldsV1"]["f:spec"].Has("f:taints")) return entry["manager"].ToString();
  }
  return "";
}

// Who has set a taint, and what takes it away.
struct TaintOrigin {
  std::string who;     // "which ... sets"; "" when it is not known.
  std::string advice;  // A sentence without its full stop.
};

TaintOrigin OriginOf(const Chain& chain, const api::Taint& taint) {
  const std::string& name = chain.asked.key.name;
  if (taint.key == api::kNotReadyTaint || taint.key == api::kUnreachableTaint) {
    return {absl::StrCat("which ", api::kControllerManager,
                         " sets while the cluster is not ready and takes away afterwards"),
            "see why the cluster is not ready"};
  }
  if (taint.key == api::kUnschedulableTaint) {
    return {"which karmadactl cordon sets", absl::StrCat("when it shall get something again: "
                                                         "karmadactl uncordon ",
                                                         name)};
  }
  for (const kube::ObjectPtr& policy : chain.taint_policies) {
    const api::ClusterTaintPolicyView view(*policy);
    const std::vector<api::Taint> taints = view.Taints();
    const bool has_it = std::any_of(taints.begin(), taints.end(),
                                    [&](const api::Taint& each) { return each.IsSame(taint); });
    if (!has_it || !view.Targets(api::ClusterView(*chain.object))) continue;
    return {absl::StrCat("which ", policy->Describe(), " is for"),
            absl::StrCat("see the conditions of ", policy->Describe(),
                         ", by which it is set and taken away")};
  }
  const std::string writer = WriterOfTaints(*chain.object);
  return {writer.empty() ? "" : absl::StrCat("by ", writer, ", who has written the taints last"),
          absl::StrCat("when it shall get something again: karmadactl taint clusters ", name, " ",
                       taint.key, ":", taint.effect, "-")};
}

}  // namespace

std::vector<std::string> TaintsThatKeepAway(const kube::Object& cluster) {
  std::vector<std::string> texts;
  for (const api::Taint& taint : api::ClusterView(cluster).Taints()) {
    if (KeepsAway(taint)) texts.push_back(TextOf(taint));
  }
  return texts;
}

Findings ClusterIsTainted(const Chain& chain) {
  const bool is_cluster = chain.object != nullptr && chain.asked.gvk == api::Clusters().gvk;
  if (!is_cluster || chain.object->IsDeleting()) return {};
  Findings findings;
  for (const api::Taint& taint : api::ClusterView(*chain.object).Taints()) {
    if (!KeepsAway(taint)) continue;
    const TaintOrigin origin = OriginOf(chain, taint);
    findings.push_back(
        {Step::kTemplate, Grade::kNote,
         absl::StrCat(chain.Name(), " gets nothing new that does not tolerate its taint ",
                      TextOf(taint),
                      taint.time_added.empty() ? "" : absl::StrCat(", since ", taint.time_added),
                      origin.who.empty() ? "" : absl::StrCat(", ", origin.who)),
         origin.advice});
  }
  return findings;
}

}  // namespace lens::why
