// Which kind can be approved and denied.
#ifndef SANDBOX_KINDS_APPROVAL_H_
#define SANDBOX_KINDS_APPROVAL_H_

#include "sandbox/kinds/resource_info.h"

namespace sandbox {

// Returns whether the kind has the subresource "approval".
inline bool HasApproval(const ResourceInfo& info) {
  return info.resource.gvk.group == "certificates.k8s.io" &&
         info.resource.gvk.kind == "CertificateSigningRequest";
}

}  // namespace sandbox

#endif  // SANDBOX_KINDS_APPROVAL_H_
