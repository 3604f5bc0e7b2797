// PropagationPolicy and ClusterPropagationPolicy (policy.karmada.io/v1alpha1).
#ifndef API_POLICY_H_
#define API_POLICY_H_

#include <cstdint>
#include <string>
#include <vector>

#include "absl/strings/string_view.h"
#include "api/resource_selector.h"
#include "base/json.h"
#include "kube/meta/object.h"

namespace api {

// Reads one policy of either scope. The object must outlive the view and stay unchanged.
class PolicyView {
 public:
  explicit PolicyView(const kube::Object& object) : object_(object) {}
  explicit PolicyView(kube::Object&&) = delete;

  const kube::Object& object() const { return object_; }
  // Each call parses the selectors: keep the result while matching many objects.
  std::vector<ResourceSelector> ResourceSelectors() const {
    return ResourceSelector::ListFromJson(spec()["resourceSelectors"]);
  }
  // Explicit priority; a higher one wins.
  int64_t Priority() const { return spec()["priority"].AsInt(); }
  // Names of overrides that must exist before templates are propagated.
  std::vector<std::string> DependentOverrides() const;
  // Returns whether a change of the policy is only applied with the next change of each template.
  bool IsLazy() const { return spec()["activationPreference"].AsString() == "Lazy"; }

  // Returns whether the policy takes over what policies of lower priority have claimed.
  bool PreemptsAlways() const { return spec()["preemption"].AsString() == "Always"; }

  // The following fields are copied to bindings. Null or absent members stay absent there.
  const json::Value& Placement() const { return spec()["placement"]; }
  bool PropagateDeps() const { return spec()["propagateDeps"].AsBool(); }
  absl::string_view SchedulerName() const { return spec()["schedulerName"].AsString(); }
  absl::string_view ConflictResolution() const { return spec()["conflictResolution"].AsString(); }

 private:
  const json::Value& spec() const { return object_.spec(); }

  const kube::Object& object_;
};

}  // namespace api

#endif  // API_POLICY_H_
