#include "lens/why/preemption.h"

#include "absl/strings/str_cat.h"
#include "detector/policy_index.h"

namespace lens::why {

Refused WhyNotTakenOver(const Match& policy, const Match& claiming, const kube::Object& object) {
  if (claiming.policy->IsDeleting()) {
    return {
        absl::StrCat("can take over only when that has gone, which is being deleted since ",
                     claiming.policy->metadata()["deletionTimestamp"].AsString()),
        absl::StrCat("wait: karmada-controller-manager takes the claim of ", claiming.Describe(),
                     " away, and then the policy that fits best takes over"),
        true};
  }
  if (!policy.namespaced() && claiming.namespaced()) {
    return {"does not take over: no ClusterPropagationPolicy does from a PropagationPolicy",
            absl::StrCat("change ", claiming.Describe())};
  }
  const std::string higher = absl::StrCat("a priority above ", claiming.priority);
  switch (detector::ObstacleTo(*policy.policy, *claiming.policy, object)) {
    case detector::PreemptionObstacle::kNotHigher:
      return {"does not take over, which only a policy of higher priority does",
              absl::StrCat("give ", policy.Describe(), " ", higher, ", a selector that names ",
                           object.Describe(), ", and spec.preemption: Always")};
    case detector::PreemptionObstacle::kNotNamed:
      return {"does not take over, which only a policy does that names the template",
              absl::StrCat("give ", policy.Describe(), " a selector that names ", object.Describe(),
                           ", and spec.preemption: Always")};
    case detector::PreemptionObstacle::kNotAlways:
      return {"does not take over without spec.preemption: Always",
              absl::StrCat("set spec.preemption: Always in ", policy.Describe())};
    case detector::PreemptionObstacle::kNone:
      break;
  }
  return {"has not taken over yet",
          "wait a moment; if it lasts, start karmada-controller-manager with "
          "--feature-gates=PropagationPolicyPreemption=true",
          true};
}

std::string OrDelete(const Match& claiming) {
  return absl::StrCat("; or delete ", claiming.Describe(),
                      ": what no other policy selects then stays where it is, and gets no edits");
}

}  // namespace lens::why
