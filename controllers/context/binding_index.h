// Finds the bindings that the scheduler has placed in a cluster.
#ifndef CONTROLLERS_CONTEXT_BINDING_INDEX_H_
#define CONTROLLERS_CONTEXT_BINDING_INDEX_H_

#include <string>
#include <vector>

#include "kube/cache/store.h"

namespace controllers {

// The index of bindings of either scope by the names in their spec.clusters, for
// ControllerBuilder::Reads. Clusters of requiredBy and of eviction tasks are not part of it.
// Upstream: ResourceBindingIndexByFieldCluster.
inline constexpr char kBindingsByCluster[] = "spec.clusters";

inline kube::IndexFn BindingsByCluster() {
  return [](const kube::Object& binding) {
    std::vector<std::string> names;
    for (const json::Value& cluster : binding.Get({"spec", "clusters"}).items()) {
      names.push_back(cluster["name"].ToString());
    }
    return names;
  };
}

}  // namespace controllers

#endif  // CONTROLLERS_CONTEXT_BINDING_INDEX_H_
