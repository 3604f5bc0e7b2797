// Which clusters the loops of a process act in.
#ifndef CONTROLLERS_CONTEXT_SERVED_CLUSTERS_H_
#define CONTROLLERS_CONTEXT_SERVED_CLUSTERS_H_

#include <string>
#include <utility>

#include "api/cluster.h"
#include "kube/meta/object.h"

namespace controllers {

// A controller manager serves the clusters of mode Push, and the agent of a cluster of mode Pull
// that one alone. The loops are the same, and ask here where they have to tell; how members are
// reached, and what may be read of the control plane, is settled where the loops are built.
class ServedClusters {
 public:
  // Those of a controller manager.
  ServedClusters() = default;
  // That of an agent.
  static ServedClusters OfAgent(std::string cluster) {
    ServedClusters served;
    served.pulled_ = std::move(cluster);
    return served;
  }

  bool Have(const kube::Object& cluster) const {
    const api::ClusterView view(cluster);
    return pulled_.empty() ? view.IsPush() : view.IsPull() && view.name() == pulled_;
  }
  // Returns whether the process is an agent, which has no rights to bindings: what depends on them
  // is left to the controller manager.
  bool by_agent() const { return !pulled_.empty(); }

 private:
  std::string pulled_;
};

}  // namespace controllers

#endif  // CONTROLLERS_CONTEXT_SERVED_CLUSTERS_H_
