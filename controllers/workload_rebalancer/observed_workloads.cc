#include "controllers/workload_rebalancer/observed_workloads.h"

#include <algorithm>
#include <map>
#include <string>
#include <utility>

#include "absl/strings/str_cat.h"

namespace controllers {
namespace {

std::string SortKey(const api::ObjectReference& workload) {
  return absl::StrCat(workload.api_version, " ", workload.kind, " ", workload.ns, " ",
                      workload.name);
}

}  // namespace

std::vector<api::ObservedWorkload> WorkloadsToObserve(
    const api::WorkloadRebalancerView& rebalancer) {
  // First all workloads of the spec, in the end those that have no item yet.
  std::map<std::string, api::ObjectReference> missing;
  for (api::ObjectReference& workload : rebalancer.Workloads()) {
    std::string key = SortKey(workload);
    missing.emplace(std::move(key), std::move(workload));
  }
  std::vector<api::ObservedWorkload> observed;
  for (api::ObservedWorkload& item : rebalancer.ObservedWorkloads()) {
    const bool in_spec = missing.erase(SortKey(item.workload)) > 0;
    if (in_spec || item.result == api::kRebalanceSuccessful) observed.push_back(std::move(item));
  }
  for (auto& [key, workload] : missing) observed.push_back({std::move(workload), "", ""});
  std::sort(observed.begin(), observed.end(),
            [](const api::ObservedWorkload& a, const api::ObservedWorkload& b) {
              return SortKey(a.workload) < SortKey(b.workload);
            });
  return observed;
}

}  // namespace controllers
