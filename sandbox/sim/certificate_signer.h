// Signs the certificate requests of clients that somebody has approved, as the signer
// kubernetes.io/kube-apiserver-client of a cluster's controller manager does.
#ifndef SANDBOX_SIM_CERTIFICATE_SIGNER_H_
#define SANDBOX_SIM_CERTIFICATE_SIGNER_H_

#include <memory>

#include "absl/status/status.h"
#include "base/tls.h"
#include "kube/meta/names.h"
#include "sandbox/sim/controller.h"
#include "sandbox/sim/event_loop.h"
#include "sandbox/storage/backend.h"

namespace sandbox {

// A certificate is valid for as long as the request asks, and for a year when it does not. What is
// in the request is not judged: who approves it has done so.
class CertificateSigner {
 public:
  // REQUIRES: `backend` and `loop` outlive this object.
  CertificateSigner(Backend& backend, EventLoop& loop,
                    std::shared_ptr<const tls::CertificateAuthority> authority);

 private:
  absl::Status Reconcile(const kube::ObjectKey& key);

  Backend& backend_;
  const std::shared_ptr<const tls::CertificateAuthority> authority_;
  Controller controller_;
};

}  // namespace sandbox

#endif  // SANDBOX_SIM_CERTIFICATE_SIGNER_H_
