// The Works of FederatedResourceQuotas, found by the labels that name the quota.
#ifndef CONTROLLERS_FEDERATED_QUOTA_QUOTA_WORKS_H_
#define CONTROLLERS_FEDERATED_QUOTA_QUOTA_WORKS_H_

#include <string>
#include <vector>

#include "api/federated_resource_quota.h"
#include "kube/meta/object.h"
#include "kube/runtime/work_queue.h"

namespace controllers {

// An index of Works by the key of their quota.
inline constexpr char kWorksByQuota[] = "federated-resource-quota";

inline std::vector<std::string> QuotaIndexValues(const kube::Object& work) {
  const kube::ObjectKey quota = api::QuotaOf(work);
  if (quota.name.empty()) return {};
  return {quota.ToString()};
}

// Maps a Work to its quota; other Works to nothing.
inline std::vector<kube::Request> RequestForQuotaOf(const kube::Object& work) {
  const kube::ObjectKey quota = api::QuotaOf(work);
  if (quota.name.empty()) return {};
  return {{.key = quota}};
}

}  // namespace controllers

#endif  // CONTROLLERS_FEDERATED_QUOTA_QUOTA_WORKS_H_
