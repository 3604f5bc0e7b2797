// What is wrong with objects that say how Karmada treats others: override policies that change
// nothing, customizations and webhook configurations that admission would refuse, taint policies
// that match no cluster. Kinds are judged by the functions of the daemon and of its admission.

#include <algorithm>
#include <string>
#include <vector>

#include "absl/strings/str_cat.h"
#include "api/cluster.h"
#include "api/cluster_affinity.h"
#include "api/keys.h"
#include "api/names.h"
#include "api/resource_selector.h"
#include "api/resources.h"
#include "api/work.h"
#include "interpreter/check/admission_review.h"
#include "lens/why/matching.h"
#include "lens/why/own_kinds.h"
#include "lens/why/refusals.h"
#include "overrides/policy.h"

namespace lens::why {
namespace {

constexpr Step kStep = Step::kTemplate;

bool IsOverride(const Chain& chain) {
  return chain.object != nullptr && (chain.asked.gvk == api::OverridePolicies().gvk ||
                                     chain.asked.gvk == api::ClusterOverridePolicies().gvk);
}

bool IsCustomization(const Chain& chain) {
  return chain.object != nullptr && chain.asked.gvk == api::InterpreterCustomizations().gvk;
}

bool KnowsClusters(const Chain& chain) {
  return !chain.clusters.empty() && chain.CouldRead(api::Clusters().gvk);
}

// What an override policy nearly selects; how far away a policy may be is not compared.
bool IsNear(const NearMiss& miss) {
  return miss.nearness == Nearness::kMisspeltName || miss.nearness == Nearness::kOtherLabels ||
         miss.nearness == Nearness::kOtherVersion || miss.nearness == Nearness::kMisspeltKind ||
         miss.nearness == Nearness::kMisspeltKindOfThatName;
}

}  // namespace

std::vector<std::string> UnreadKinds(const Chain& chain) {
  std::vector<std::string> kinds;
  for (const json::Value& selector : chain.object->spec()["resourceSelectors"].items()) {
    const auto gvk = kube::ParseGvk(selector["apiVersion"].AsString(), selector["kind"].AsString());
    if (gvk.ok() && !chain.CouldRead(*gvk)) kinds.push_back(gvk->kind);
  }
  return kinds;
}

Findings OverrideSelectsNothing(const Chain& chain) {
  if (!IsOverride(chain) || chain.object->IsDeleting() || !chain.unserved.empty()) return {};
  // Without selectors it concerns everything.
  if (chain.object->spec()["resourceSelectors"].empty() || !UnreadKinds(chain).empty()) return {};
  const overrides::Policy policy(chain.object);
  NearMiss nearest;
  kube::ObjectPtr near;
  for (const kube::ObjectPtr& object : chain.candidates) {
    if (policy.Rank(*object) != api::SelectorMatch::kNone) return {};
    NearMiss miss = MissOf(*object, chain.object);
    if (!IsNear(miss) || miss.nearness <= nearest.nearness) continue;
    nearest = std::move(miss);
    near = object;
  }
  Finding finding{kStep, Grade::kStuck, absl::StrCat(chain.Name(), " changes no template: "),
                  "change its resourceSelectors, or create what they select"};
  if (near == nullptr) {
    absl::StrAppend(&finding.cause, "nothing matches its resourceSelectors");
  } else {
    absl::StrAppend(&finding.cause, "it ", nearest.why, "; there is ", near->Describe());
    finding.advice = nearest.advice;
  }
  return {finding};
}

// A rule without a target is for every cluster.
Findings OverrideAppliesNowhere(const Chain& chain) {
  if (!IsOverride(chain) || !KnowsClusters(chain)) return {};
  const overrides::Policy policy(chain.object);
  const auto& rules = policy.rules();
  if (rules.empty()) return {};
  const bool applies = std::any_of(rules.begin(), rules.end(), [&](const overrides::Rule& rule) {
    return std::any_of(chain.clusters.begin(), chain.clusters.end(), [&](const auto& cluster) {
      return rule.AppliesTo(api::ClusterView(*cluster.second));
    });
  });
  if (applies) return {};
  return {{kStep, Grade::kStuck,
           absl::StrCat(chain.Name(), " changes nothing: no cluster matches the targetCluster of ",
                        rules.size() == 1 ? "its rule" : "its rules"),
           "change targetCluster, or give a cluster what it asks for, such as a label"}};
}

// What it makes of a template may be what a cluster refuses: its Works say so.
Findings OverrideIsRefused(const Chain& chain) {
  if (!IsOverride(chain)) return {};
  Findings findings;
  for (const kube::ObjectPtr& work : chain.own_works) {
    const api::WorkView view(*work);
    const json::Value* applied = kube::FindCondition(view.Conditions(), api::kWorkApplied);
    const auto cluster = api::ClusterOfExecutionNamespace(work->ns());
    const auto manifests = view.Manifests();
    if (applied == nullptr || !cluster.ok() || manifests.empty()) continue;
    const absl::string_view message = (*applied)["message"].AsString();
    if ((*applied)["status"].AsString() != "False" || !IsAboutContent(message)) continue;
    const kube::Object object(manifests[0]);
    findings.push_back(
        {kStep, Grade::kStuck,
         absl::StrCat(chain.Name(), " changes ", object.Describe(), " for ", *cluster,
                      ", which refuses that (", ShortMessage(message), ")"),
         absl::StrCat("mend what it writes, if that is what the message names, or else the "
                      "template; ",
                      chain.asked.AskAbout(object.gvk(), object.key()))});
  }
  return findings;
}

Findings ConfigurationIsBroken(const Chain& chain) {
  if (chain.object == nullptr || chain.object->IsDeleting()) return {};
  const bool is_hook = interpreter::check::IsWebhookConfiguration(*chain.object);
  if (!is_hook && !IsCustomization(chain)) return {};
  const interpreter::check::Verdict verdict =
      interpreter::check::Judge(*chain.object, chain.customizations, chain.asked.merge);
  Findings findings;
  if (!verdict.errors.empty()) {
    findings.push_back({kStep, Grade::kStuck,
                        absl::StrCat(chain.Name(), " is broken: ", Some(verdict.errors, 3)),
                        is_hook ? "mend that field"
                                : "mend the script at that place; karmada-interpret check shows "
                                  "all that is wrong with the file"});
  }
  for (const std::string& warning : verdict.warnings) {
    findings.push_back({kStep, Grade::kNote, absl::StrCat(chain.Name(), ": ", warning),
                        "mend it if it is not meant so"});
  }
  return findings;
}

Findings CustomizationHasNoKind(const Chain& chain) {
  if (!IsCustomization(chain) || chain.unserved.empty()) return {};
  return {{kStep, Grade::kNote,
           absl::StrCat(chain.Name(),
                        " is for what the control plane does not serve: ", Some(chain.unserved)),
           "mend spec.target, or apply the missing definition to the control plane"}};
}

Findings TaintPolicyMatchesNothing(const Chain& chain) {
  if (chain.object == nullptr || chain.asked.gvk != api::ClusterTaintPolicies().gvk) return {};
  const json::Value& target = chain.object->spec()["targetClusters"];
  if (target.is_null() || !KnowsClusters(chain)) return {};
  const api::ClusterAffinity affinity = api::ClusterAffinity::FromJson(target);
  for (const auto& [name, cluster] : chain.clusters) {
    if (affinity.Matches(api::ClusterView(*cluster))) return {};
  }
  return {{kStep, Grade::kStuck,
           absl::StrCat(chain.Name(), " matches no cluster (spec.targetClusters)"),
           "change spec.targetClusters, or give a cluster what it asks for, such as a label"}};
}

}  // namespace lens::why
