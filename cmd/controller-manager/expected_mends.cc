#include "cmd/controller-manager/expected_mends.h"

#include "api/reasons.h"
#include "api/resources.h"

namespace cmd {

std::vector<kube::Shadow::Mend> ExpectedMends() {
  constexpr char kMissedDeadline[] = "ProgressDeadlineExceeded";
  constexpr char kNamesMissedDeadline[] =
      "upstream does not collect a Deployment's missed deadline";
  constexpr char kNothingApplied[] =
      "upstream leaves FullyApplied out, or True, while a Work cannot be made";
  return {
      {.gvk = {"apps", "v1", "StatefulSet"},
       .subresource = "status",
       .field = "status.observedGeneration",
       .why = "upstream leaves it out, so that no tool finds the StatefulSet up to date"},
      {.gvk = {"batch", "v1", "Job"},
       .subresource = "status",
       .field = "status.",
       .why = "the API server refuses the status that upstream makes"},
      {.gvk = {"apps", "v1", "Deployment"},
       .subresource = "status",
       .field = "status.conditions",
       .why = "upstream sums up none, so that tools that wait for them wait for ever"},
      {.gvk = api::Works().gvk,
       .subresource = "status",
       .field = "status.manifestStatuses",
       .why = kNamesMissedDeadline,
       .word = kMissedDeadline},
      {.gvk = api::ResourceBindings().gvk,
       .subresource = "status",
       .field = "status.aggregatedStatus",
       .why = kNamesMissedDeadline,
       .word = kMissedDeadline},
      {.gvk = api::ResourceBindings().gvk,
       .subresource = "status",
       .field = "status.conditions",
       .why = kNothingApplied,
       .word = api::reason::kFullyAppliedFailed},
      {.gvk = api::ClusterResourceBindings().gvk,
       .subresource = "status",
       .field = "status.conditions",
       .why = kNothingApplied,
       .word = api::reason::kFullyAppliedFailed},
  };
}

}  // namespace cmd
