// One pass over a FederatedHPA: what has been read, the status that is being made of it, and how
// failures are reported.
#ifndef CONTROLLERS_FEDERATED_HPA_SCALING_PASS_H_
#define CONTROLLERS_FEDERATED_HPA_SCALING_PASS_H_

#include <cstdint>
#include <memory>
#include <string>

#include "absl/status/status.h"
#include "absl/strings/string_view.h"
#include "absl/time/time.h"
#include "api/federated_hpa.h"
#include "controllers/context/scale_target.h"
#include "controllers/federated_hpa/scaling_memory.h"
#include "kube/meta/object.h"
#include "kube/runtime/event_recorder.h"

namespace controllers {

// How the failure of a step is reported.
struct ScalingFailure {
  const char* event;    // The reason of the event.
  const char* reason;   // That of the condition AbleToScale, which becomes False.
  const char* message;  // The beginning of the condition's message; the cause follows.
};

class ScalingPass {
 public:
  // REQUIRES: `recorder` outlives the pass.
  ScalingPass(kube::ObjectPtr hpa, absl::Time now, kube::EventRecorder& recorder)
      : hpa(std::move(hpa)), after(*this->hpa), now(now), recorder_(recorder) {}

  const kube::ObjectPtr hpa;
  kube::Object after;  // With the new status.
  const absl::Time now;
  ScaleTarget target;
  kube::ObjectPtr scale;  // Of the target on the control plane, once it is known.
  std::shared_ptr<ScalingMemory::Entry> memory;

  api::FederatedHpaView view() const { return api::FederatedHpaView(*hpa); }
  // The target's spec.replicas on the control plane. REQUIRES: the scale is known.
  int64_t current() const { return ScaleView(*scale).Replicas(); }

  void Set(const kube::Condition& condition) { api::SetScalingCondition(after, condition, now); }
  void Warn(absl::string_view reason, absl::string_view message) {
    recorder_.Warning(kube::InvolvedObject::Of(*hpa), reason, message);
  }
  // Report a failure, and return its cause: one of the steps before the decision, and that the
  // metrics give no number. What has no outcome yet (kube::IsNoOutcome) is not reported.
  absl::Status Fail(const ScalingFailure& failure, const absl::Status& cause);
  absl::Status FailToCompute(const std::string& error);

 private:
  kube::EventRecorder& recorder_;
};

}  // namespace controllers

#endif  // CONTROLLERS_FEDERATED_HPA_SCALING_PASS_H_
