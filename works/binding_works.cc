#include "works/binding_works.h"

#include <algorithm>
#include <vector>

#include "api/eviction.h"
#include "api/keys.h"

namespace works {

bool Expects(const kube::Object& binding, absl::string_view cluster) {
  for (const json::Value& target : binding.spec()["clusters"].items()) {
    if (target["name"].AsString() == cluster) return true;  // The usual case, and a fast one.
  }
  for (const json::Value& referrer : binding.spec()["requiredBy"].items()) {
    for (const json::Value& target : referrer["clusters"].items()) {
      if (target["name"].AsString() == cluster) return true;
    }
  }
  const std::vector<api::EvictionTask> tasks = api::BindingView(binding).EvictionTasks();
  return std::any_of(tasks.begin(), tasks.end(), [&](const api::EvictionTask& task) {
    return task.KeepsWork() && task.from_cluster == cluster;
  });
}

kube::Object ObjectOf(const kube::Object& work) {
  return kube::Object(work.Get({"spec", "workload", "manifests"}).At(0));
}

bool ChangedHands(const kube::Object& before, const kube::Object& after) {
  for (const char* name :
       {api::kResourceBindingNamespaceAnnotation, api::kResourceBindingNameAnnotation,
        api::kClusterResourceBindingNameAnnotation}) {
    if (!before.Annotation(name).empty() && before.Annotation(name) != after.Annotation(name)) {
      return true;
    }
  }
  return false;
}

}  // namespace works
