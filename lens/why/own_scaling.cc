// Autoscalers name what they scale, and write its replicas; the checks compare the names of all
// that the chain has read, and read what a CronFederatedHPA has recorded of its rules. They look at
// one after the other: whether the target is in a cluster, who else scales it, and whether the last
// execution of each rule failed. No state.

#include "lens/why/own_scaling.h"

#include <optional>
#include <string>

#include "absl/strings/str_cat.h"
#include "api/cron_federated_hpa.h"
#include "api/resources.h"
#include "lens/why/matching.h"
#include "lens/why/own_kinds.h"
#include "lens/why/own_objects.h"

namespace lens::why {
namespace {

constexpr Step kStep = Step::kTemplate;

// What an autoscaler scales.
struct Target {
  kube::Gvk gvk;
  kube::ObjectKey key;
  std::string Describe() const { return absl::StrCat(gvk.kind, " ", key.ToString()); }
};

Target TargetOf(const kube::Object& autoscaler) {
  const json::Value& reference = autoscaler.spec()["scaleTargetRef"];
  const auto gvk = kube::ParseGvk(reference["apiVersion"].AsString(), reference["kind"].AsString());
  return {gvk.value_or(kube::Gvk()), {std::string(autoscaler.ns()), reference["name"].ToString()}};
}

bool IsSame(const Target& a, const Target& b) {
  return a.gvk.group == b.gvk.group && a.gvk.kind == b.gvk.kind && a.key == b.key;
}

bool IsAutoscaler(const Chain& chain) {
  return chain.object != nullptr && (chain.asked.gvk == api::FederatedHpas().gvk ||
                                     chain.asked.gvk == api::CronFederatedHpas().gvk);
}

// Returns "its rule night wants 12 replicas, and FederatedHPA shop/web allows 1 to 3"; "" when each
// rule keeps to what the FederatedHPA allows.
std::string RuleBeyond(const kube::Object& cron, const kube::Object& hpa) {
  const int64_t least = hpa.spec()["minReplicas"].AsInt(1);
  const int64_t most = hpa.spec()["maxReplicas"].AsInt();
  for (const json::Value& rule : cron.spec()["rules"].items()) {
    const int64_t wanted = rule["targetReplicas"].AsInt(-1);
    if (wanted < 0 || (wanted >= least && wanted <= most)) continue;
    return absl::StrCat("its rule ", rule["name"].AsString(), " wants ", wanted, " replicas, and ",
                        hpa.Describe(), " allows ", least, " to ", most);
  }
  return "";
}

Finding CronBesideHpa(const kube::Object& cron, const kube::Object& hpa, const Target& target) {
  const std::string beyond = RuleBeyond(cron, hpa);
  return {kStep, beyond.empty() ? Grade::kNote : Grade::kStuck,
          absl::StrCat(cron.Describe(), " scales ", target.Describe(), ", which ", hpa.Describe(),
                       " scales, too", beyond.empty() ? "" : ": ", beyond),
          absl::StrCat("let the CronFederatedHPA scale ", hpa.Describe(),
                       " instead (spec.scaleTargetRef, and targetMinReplicas and "
                       "targetMaxReplicas in its rules)")};
}

}  // namespace

Findings AutoscalerTargetIsNowhere(const Chain& chain) {
  // A CronFederatedHPA may well prepare what is propagated later.
  const bool is_hpa = IsAutoscaler(chain) && chain.asked.gvk == api::FederatedHpas().gvk;
  if (!is_hpa || !chain.lost_target.empty() || !chain.target_is_unbound) return {};
  const Target target = TargetOf(*chain.object);
  return {{kStep, Grade::kStuck,
           absl::StrCat(chain.Name(), " scales ", target.Describe(), ", which is in no cluster"),
           chain.asked.AskAbout(target.gvk, target.key)}};
}

Findings AutoscalersDisagree(const Chain& chain) {
  if (!IsAutoscaler(chain)) return {};
  const kube::Object& own = *chain.object;
  const Target target = TargetOf(own);
  const bool is_hpa = own.gvk() == api::FederatedHpas().gvk;
  Findings findings;
  for (const kube::ObjectPtr& other : chain.autoscalers) {
    const bool is_itself = other->gvk() == own.gvk() && other->key() == own.key();
    if (is_itself || other->IsDeleting() || !IsSame(TargetOf(*other), target)) continue;
    const bool is_cron = other->gvk() == api::CronFederatedHpas().gvk;
    const bool is_inner = other->gvk() == api::HorizontalPodAutoscalers().gvk;
    std::string claim;
    ClaimingPolicy(chain, *other, &claim);
    if (is_inner && claim.empty()) continue;  // Nothing acts on it in the control plane.
    if (is_hpa && is_cron) {
      findings.push_back(CronBesideHpa(*other, own, target));
    } else if (!is_hpa && other->gvk() == api::FederatedHpas().gvk) {
      findings.push_back(CronBesideHpa(own, *other, target));
    } else if (!is_cron) {
      findings.push_back(
          {kStep, Grade::kStuck,
           absl::StrCat(own.Describe(), " scales ", target.Describe(), ", which ",
                        other->Describe(), " scales", is_inner ? " in members" : "", ", too"),
           "delete one of the two: the other one scales on alone, and nothing else is lost by it"});
    }
  }
  return findings;
}

Findings CronRuleFailed(const Chain& chain) {
  if (!IsAutoscaler(chain) || chain.asked.gvk != api::CronFederatedHpas().gvk) return {};
  const api::CronFederatedHpaView cron(*chain.object);
  Findings findings;
  for (const api::CronRule& rule : cron.Rules()) {
    const api::ExecutionHistoryView history(cron.History(rule.name));
    const std::optional<std::string> failure = history.LastFailure();
    if (!failure.has_value()) continue;
    findings.push_back(
        {kStep, Grade::kStuck,
         absl::StrCat(chain.Name(), ": its rule ", rule.name, " failed the last time: ", *failure),
         rule.suspend ? "mend what the message says, and let the rule go on (suspend: false)"
                      : "mend what the message says before the next time of the rule"});
  }
  return findings;
}

}  // namespace lens::why
