// CertificateSigningRequest (certificates.k8s.io/v1): the part of it by which requests of Karmada's
// agents are recognized.
#ifndef API_SIGNING_REQUEST_H_
#define API_SIGNING_REQUEST_H_

#include <set>
#include <string>

#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"
#include "base/json.h"
#include "kube/meta/object.h"

namespace api {

// Names by which an agent is known to the control plane.
inline constexpr char kAgentGroup[] = "system:karmada:agents";
inline constexpr char kAgentUserPrefix[] = "system:karmada:agent:";
// The signer of client certificates for the control plane's API server.
inline constexpr char kApiServerClientSigner[] = "kubernetes.io/kube-apiserver-client";

// Reads one CertificateSigningRequest. The object must outlive the view and stay unchanged.
class SigningRequestView {
 public:
  explicit SigningRequestView(const kube::Object& object) : object_(object) {}
  explicit SigningRequestView(kube::Object&&) = delete;

  absl::string_view SignerName() const { return object_.spec()["signerName"].AsString(); }
  // Returns the user who made the request, as the API server knows it.
  absl::string_view Username() const { return object_.spec()["username"].AsString(); }
  std::set<std::string> Usages() const;
  // Returns the PEM text of the request; kInvalidArgument when it is not base64.
  absl::StatusOr<std::string> Pem() const;
  // Returns whether it is approved or denied, or the certificate was issued.
  bool IsDecided() const;
  // Returns the spec of a SubjectAccessReview that asks whether the user who made the request may
  // create this sub-resource of certificatesigningrequests.
  json::Value ReviewOf(absl::string_view subresource) const;

 private:
  const kube::Object& object_;
};

// Adds the condition by which the controller approves a request.
void Approve(kube::Object& request, absl::string_view message);

}  // namespace api

#endif  // API_SIGNING_REQUEST_H_
