#include "cmd/controller-manager/expected_mends.h"

namespace cmd {

std::vector<kube::Shadow::Mend> ExpectedMends() {
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
  };
}

}  // namespace cmd
