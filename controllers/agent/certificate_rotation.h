// Has the certificate in an agent's kubeconfig renewed before it expires.
#ifndef CONTROLLERS_AGENT_CERTIFICATE_ROTATION_H_
#define CONTROLLERS_AGENT_CERTIFICATE_ROTATION_H_

#include <functional>
#include <string>
#include <utility>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/time/time.h"
#include "base/clock.h"
#include "base/stop_token.h"
#include "base/tls.h"
#include "kube/client/client.h"
#include "kube/runtime/periodic.h"

namespace controllers {

struct CertificateRotationOptions {
  std::string kubeconfig_namespace = "karmada-system";  // Of the Secret, in the member.
  absl::Duration interval = absl::Minutes(5);           // Between two looks at the certificate.
  double threshold = 0.2;  // The part of its life that is left when a new one is asked for.
};

// Upstream's cert-rotation-controller. Looks at the certificate in the Secret karmada-kubeconfig of
// the member, which the agent's kubeconfig is mounted from. When its time is nearly over, a
// CertificateSigningRequest is made in the control plane for the same subject and life, with a new
// key; the certificate that the control plane issues is tried, and written into the Secret.
class CertificateRotation : public kube::Periodic {
 public:
  struct Deps {
    kube::Client& control_plane;
    kube::Client& member;
    const base::Clock& clock;
    // Returns why the control plane does not accept the pair, by a request with it. Optional.
    std::function<absl::Status(const tls::KeyPair& renewed)> try_out;
    // Has this process use the pair from now on, if it uses the certificate `old`. Optional.
    std::function<void(const std::string& old, const tls::KeyPair& renewed)> use;
  };
  // REQUIRES: what `deps` refers to outlives the runnable.
  CertificateRotation(CertificateRotationOptions options, Deps deps)
      : Periodic(deps.clock), options_(std::move(options)), deps_(std::move(deps)) {}

  std::string name() const override { return "certificate rotation"; }

  // One look. Returns whether the certificate was renewed.
  absl::StatusOr<bool> Look(const base::StopToken& stop);

 protected:
  absl::Duration Tick(const base::StopToken& stop) override;

 private:
  absl::StatusOr<tls::KeyPair> Renew(const std::string& user, const std::string& old,
                                     const base::StopToken& stop);
  // Waits until the request has a certificate; an error when it is denied, or in five minutes.
  absl::StatusOr<std::string> AwaitCertificate(const std::string& request,
                                               const base::StopToken& stop);

  const CertificateRotationOptions options_;
  const Deps deps_;
};

}  // namespace controllers

#endif  // CONTROLLERS_AGENT_CERTIFICATE_ROTATION_H_
