// Has a client certificate renewed: how long it lasts, and the request for the next one.
#ifndef BASE_CERTIFICATE_RENEWAL_H_
#define BASE_CERTIFICATE_RENEWAL_H_

#include <string>

#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"
#include "absl/time/time.h"

namespace tls {

// The time in which a certificate is valid.
struct Validity {
  absl::Time not_before, not_after;

  absl::Duration Whole() const { return not_after - not_before; }
  // Returns the part of the time that is left, below 0 when it is over.
  double PartLeft(absl::Time now) const { return absl::FDivDuration(not_after - now, Whole()); }
};
// Returns the time in which all certificates of the PEM text are valid. kInvalidArgument when it
// has none, or there is no such time.
absl::StatusOr<Validity> ValidityOf(absl::string_view cert_pem);

// A new key (ECDSA P-256) and a request (PKCS #10), signed with it, for a certificate with the
// subject of an existing one. Both are PEM.
struct RenewalRequest {
  std::string key_pem, request_pem;
  // Takes the first certificate of the text. kInvalidArgument when there is none.
  static absl::StatusOr<RenewalRequest> For(absl::string_view cert_pem);
};

// kInvalidArgument says why the certificate, as PEM, is not one of this key.
absl::Status CheckKeyPair(const std::string& cert_pem, const std::string& key_pem);

}  // namespace tls

#endif  // BASE_CERTIFICATE_RENEWAL_H_
