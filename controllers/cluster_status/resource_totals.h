// What a member cluster has and what its pods request, updated with each change of a node or pod.
#ifndef CONTROLLERS_CLUSTER_STATUS_RESOURCE_TOTALS_H_
#define CONTROLLERS_CLUSTER_STATUS_RESOURCE_TOTALS_H_

#include <memory>
#include <string>
#include <vector>

#include "absl/strings/string_view.h"
#include "base/json.h"
#include "kube/cache/informer.h"
#include "kube/meta/names.h"
#include "kube/meta/object.h"

namespace controllers {

// Return the fields of a node and of a pod that the totals read, besides metadata (json::Fields).
std::vector<std::string> NodeFields();
std::vector<std::string> PodFields();

// The sums over the nodes and pods that were put in and not removed since, whatever else was there
// before: no figure depends on the order or the history of the calls. A change costs as much as the
// object has containers and resources; a summary costs as much as there are resources, models and
// nodes whose room has changed since the last one. Thread-safe.
class ResourceTotals {
 public:
  ResourceTotals();
  ~ResourceTotals();
  ResourceTotals(const ResourceTotals&) = delete;

  // Adds the object, or replaces an earlier state of it.
  void PutNode(const kube::ObjectPtr& node);
  void PutPod(const kube::ObjectPtr& pod);
  void RemoveNode(absl::string_view name);
  void RemovePod(const kube::ObjectKey& key);

  // Returns status.nodeSummary: {totalNum, readyNum}.
  json::Value NodeSummary() const;

  // status.resourceSummary:
  // - allocatable: what all nodes have together, ready or not;
  // - allocating and allocated: what the pods request that have no node yet, and those that have
  //   one and have not ended. Of a pod count its containers together, or its largest init container
  //   where that is more, with its overhead, in the amounts of kube::ScheduledAmount;
  // - allocatableModelings, when `models` (spec.resourceModels) is a non-empty array: how many
  //   nodes have room of which grade.
  // A quantity that is none, or beyond what a double holds, counts as nothing.
  json::Value ResourceSummary(const json::Value& models);

 private:
  struct Impl;
  const std::unique_ptr<Impl> impl_;
};

// Return handlers that keep `totals` up to date with an informer of nodes or of pods. They own
// `totals`.
kube::EventHandler NodeHandler(std::shared_ptr<ResourceTotals> totals);
kube::EventHandler PodHandler(std::shared_ptr<ResourceTotals> totals);

}  // namespace controllers

#endif  // CONTROLLERS_CLUSTER_STATUS_RESOURCE_TOTALS_H_
