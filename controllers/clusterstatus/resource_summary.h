// What a member cluster has and what its pods ask for: pure functions on nodes and pods.
#ifndef CONTROLLERS_CLUSTERSTATUS_RESOURCE_SUMMARY_H_
#define CONTROLLERS_CLUSTERSTATUS_RESOURCE_SUMMARY_H_

#include <vector>

#include "absl/types/span.h"
#include "base/json.h"
#include "kube/meta/object.h"

namespace controllers {

// status.nodeSummary: {totalNum, readyNum}.
json::Value NodeSummary(absl::Span<const kube::ObjectPtr> nodes);

// status.resourceSummary: allocatable of all nodes, allocating (pods without a node), allocated
// (pods with one that have not ended) and, when `models` (spec.resourceModels) is a non-empty
// array, allocatableModelings: how many nodes have room of which grade.
json::Value ResourceSummary(absl::Span<const kube::ObjectPtr> nodes,
                            absl::Span<const kube::ObjectPtr> pods, const json::Value& models);

// Keep only what the summaries read; for informers.
void TrimNode(kube::Object& node);
void TrimPod(kube::Object& pod);

}  // namespace controllers

#endif  // CONTROLLERS_CLUSTERSTATUS_RESOURCE_SUMMARY_H_
