// Overrides manifests for clusters: what the loops that write Works need of override policies.
#ifndef OVERRIDES_OVERRIDER_H_
#define OVERRIDES_OVERRIDER_H_

#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"
#include "base/json.h"
#include "kube/meta/object.h"
#include "kube/runtime/event_recorder.h"
#include "kube/runtime/manager.h"
#include "overrides/policy.h"

namespace overrides {

struct Overridden {
  kube::Object manifest;
  // The annotations with which a Work records what was applied; empty when nothing was. As
  // upstream's, they stay on a Work to which nothing is applied any more.
  json::Value annotations = json::Value::Object();
  std::vector<PolicyPtr> policies;  // Those that were applied, in their order, each once.
};

// Thread-safe. A controller that uses it declares with ControllerBuilder::Reads that it reads
// Clusters and ClusterOverridePolicies, and OverridePolicies if its objects have namespaces.
class Overrider {
 public:
  // Remembers in `outcomes`, which are those of the loop, what it has reported. REQUIRES: both
  // outlive this object.
  Overrider(kube::Manager& manager, kube::Outcomes& outcomes);

  // Returns the policies for objects of a namespace ("" for cluster-scoped objects). Call it once
  // for all clusters of a pass.
  Policies PoliciesFor(absl::string_view ns) { return policies_.For(ns); }

  // Returns the manifest with the policies applied for the cluster. An error names policy, field
  // and object. It is terminal when the policies are too much work, or too long to be recorded, and
  // in no other case: not everything that may repair it wakes the loop, such as another answer of
  // an interpreter webhook or another status of the template. A failure, and the pass that ends it,
  // are recorded as events on the object. `of` is the key of the binding. kFailedPrecondition
  // when policies select the manifest, but the Cluster does not exist.
  absl::StatusOr<Overridden> Override(const Policies& policies, const kube::Object& manifest,
                                      const std::string& cluster, const kube::ObjectKey& of);

  // Records that the policies were applied to the manifest for the cluster, as a routine success on
  // the object. Call it when the result has been written.
  void ReportApplied(const Overridden& overridden, const kube::Object& manifest,
                     const std::string& cluster);

 private:
  struct Pass;
  void Record(const Pass& pass, const Policy& policy, const absl::Status& result);

  kube::Manager& manager_;
  ParsedPolicies policies_;
  kube::EventRecorder recorder_;
};

// Adds `annotations` to those of a Work.
void AddAnnotations(const json::Value& annotations, json::Value& work_annotations);

}  // namespace overrides

#endif  // OVERRIDES_OVERRIDER_H_
