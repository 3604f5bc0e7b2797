// Selects the clusters for a binding: the filters, the capacity estimate and the choice under a
// spread constraint of karmada-scheduler, as pure functions.
#ifndef SANDBOX_SIM_CLUSTER_SELECTION_H_
#define SANDBOX_SIM_CLUSTER_SELECTION_H_

#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "api/binding.h"
#include "base/json.h"
#include "config/release.h"
#include "kube/meta/object.h"

namespace sandbox {

// As what the scheduler behaves.
struct SchedulingRules {
  config::Release release = config::Release::kV1_18;
  bool components = false;         // Its feature gate MultiplePodTemplatesScheduling.
  bool by_priority = false;        // Its feature gate PriorityBasedScheduling.
  bool models = true;              // Its feature gate CustomizedClusterResourceModeling.
  bool workload_affinity = false;  // Its feature gate WorkloadAffinity.
};

// The chosen clusters, or why none was chosen.
struct Placement {
  // The reasons of the Scheduled condition.
  enum class Outcome {
    kSuccess,
    kNoClusterFit,
    kUnschedulable,
    kSchedulerError,
    kQuotaExceeded  // The API server refused to store the result.
  };
  Outcome outcome = Outcome::kSuccess;
  std::string message;
  std::vector<api::TargetCluster> clusters;
  std::string affinity_name;  // The term of clusterAffinities that was chosen.
  // What each of the clusters gets in `components`: names and replicas of spec.components. Null
  // for none.
  json::Value components;

  // Returns spec.clusters; null for no clusters.
  json::Value ClustersToJson() const;
};

// Places the binding on the given Clusters. `fresh` ignores its present clusters; as v1.19 it also
// begins with the first term of clusterAffinities, instead of the one in force.
Placement Place(const kube::Object& binding, const std::vector<kube::ObjectPtr>& clusters,
                bool fresh, const SchedulingRules& rules = {});

// Returns the affinity that determines whether a change of a Cluster concerns the binding:
// clusterAffinity, or the observed term of clusterAffinities; null when every cluster concerns it.
json::Value ObservedAffinity(const kube::Object& binding);

}  // namespace sandbox

#endif  // SANDBOX_SIM_CLUSTER_SELECTION_H_
