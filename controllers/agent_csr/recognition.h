// What is a certificate request of a karmada-agent.
#ifndef CONTROLLERS_AGENT_CSR_RECOGNITION_H_
#define CONTROLLERS_AGENT_CSR_RECOGNITION_H_

#include <string>
#include <vector>

#include "absl/status/status.h"
#include "api/signing_request.h"
#include "base/certificate_request.h"

namespace controllers {

// A permission that lets a request be approved, and what the approval says then.
struct AgentPermission {
  const char* subresource;
  const char* message;
};

// Returns OK if it is the request of an agent; kNotFound if it has nothing to do with agents;
// kFailedPrecondition, with the reason, if it only looks like one.
absl::Status CheckAgentRequest(const api::SigningRequestView& request,
                               const tls::CertificateRequest& content);

// Returns the permissions that apply, in the order in which they are to be tried: that of an agent
// which renews its own certificate only if it made the request in the name that it asks for.
// REQUIRES: CheckAgentRequest(request, content).ok().
std::vector<AgentPermission> PermissionsFor(const api::SigningRequestView& request,
                                            const tls::CertificateRequest& content);

}  // namespace controllers

#endif  // CONTROLLERS_AGENT_CSR_RECOGNITION_H_
