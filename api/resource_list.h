// Resources with their quantities ({"cpu": "2", "memory": "1Gi"}), as quotas and requests have
// them.
#ifndef API_RESOURCE_LIST_H_
#define API_RESOURCE_LIST_H_

#include <cstdint>
#include <map>
#include <string>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"
#include "base/json.h"
#include "kube/meta/quantity.h"

namespace api {

// Amounts are exact. Not thread-safe.
class ResourceList {
 public:
  // `list` is a JSON object of quantities, or null for none. kInvalidArgument names the resource
  // whose quantity cannot be read: "cpu: quantities must match ...".
  static absl::StatusOr<ResourceList> FromJson(const json::Value& list);
  // As FromJson; kInvalidArgument also for a quantity below 0: "cpu: -1 is negative".
  static absl::StatusOr<ResourceList> FromLimits(const json::Value& list);

  // Adds `other`, `times` times. REQUIRES: times >= 0.
  void Add(const ResourceList& other, int64_t times = 1);
  // Removes all resources that `names`, a JSON object, does not have.
  void KeepOnly(const json::Value& names);
  // Removes the resources whose amount is 0.
  void DropZeros();

  bool empty() const { return amounts_.empty(); }
  const std::map<std::string, kube::Quantity, std::less<>>& amounts() const { return amounts_; }

  // Returns an object with canonical quantities; null when it is empty. A quantity of `held` that
  // stands for the same amount keeps its text, so that another notation is not a change.
  json::Value ToJson(const json::Value& held = {}) const;

 private:
  std::map<std::string, kube::Quantity, std::less<>> amounts_;
};

}  // namespace api

#endif  // API_RESOURCE_LIST_H_
