// The agent certificate loop: approves the certificate requests of karmada-agents (upstream's
// agent-csr-approving-controller).
#ifndef CONTROLLERS_AGENT_CSR_AGENT_CSR_RECONCILER_H_
#define CONTROLLERS_AGENT_CSR_AGENT_CSR_RECONCILER_H_

#include <functional>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "api/reasons.h"
#include "base/json.h"
#include "base/stop_token.h"
#include "kube/meta/object.h"
#include "kube/runtime/event_recorder.h"
#include "kube/runtime/manager.h"
#include "kube/runtime/reconciler.h"

namespace controllers {

// Requests that are an agent's, and whose maker is permitted to make them, get the condition
// Approved. All others stay as they are.
class AgentCsrReconciler : public kube::Reconciler {
 public:
  // Returns whether the control plane allows what the spec of a SubjectAccessReview asks.
  using IsAllowed =
      std::function<absl::StatusOr<bool>(const json::Value& spec, const base::StopToken& stop)>;

  // REQUIRES: `manager` outlives the reconciler.
  AgentCsrReconciler(kube::Manager& manager, IsAllowed is_allowed);

  // The request names a CertificateSigningRequest.
  absl::StatusOr<kube::Action> Reconcile(const kube::Request& request,
                                         const base::StopToken& stop) override;

 private:
  absl::Status Decide(const kube::ObjectPtr& request, const base::StopToken& stop);
  void Warn(const kube::Object& request, absl::string_view reason, absl::string_view why);

  kube::Manager& manager_;
  const IsAllowed is_allowed_;
  kube::EventRecorder recorder_;
};

}  // namespace controllers

#endif  // CONTROLLERS_AGENT_CSR_AGENT_CSR_RECONCILER_H_
