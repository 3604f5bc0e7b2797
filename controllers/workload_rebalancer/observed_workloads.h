// Determines which workloads a rebalancer has to look after: a pure function.
#ifndef CONTROLLERS_WORKLOAD_REBALANCER_OBSERVED_WORKLOADS_H_
#define CONTROLLERS_WORKLOAD_REBALANCER_OBSERVED_WORKLOADS_H_

#include <vector>

#include "api/workload_rebalancer.h"

namespace controllers {

// Returns the items of status.observedWorkloads that belong to the present spec (upstream's
// syncWorkloadsFromSpecToStatus): the present item of each workload in the spec, a new item without
// a result for those that have none, and successes of workloads that have left the spec. They are
// sorted by apiVersion, kind, namespace and name.
std::vector<api::ObservedWorkload> WorkloadsToObserve(
    const api::WorkloadRebalancerView& rebalancer);

}  // namespace controllers

#endif  // CONTROLLERS_WORKLOAD_REBALANCER_OBSERVED_WORKLOADS_H_
