// Signs certificate requests (PKCS #10), as the signer of a cluster does.
#ifndef BASE_CERTIFICATE_SIGNING_H_
#define BASE_CERTIFICATE_SIGNING_H_

#include <string>

#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"
#include "absl/time/time.h"
#include "base/tls.h"

namespace tls {

// Returns the certificate, as PEM, for the subject and the key of the request, valid from one
// minute before `now` until `valid_for` after it. kInvalidArgument when the text is no request, or
// is not signed with its key. REQUIRES: `authority` was made by CertificateAuthority::Create.
absl::StatusOr<std::string> SignCertificateRequest(const CertificateAuthority& authority,
                                                   absl::string_view request_pem, absl::Time now,
                                                   absl::Duration valid_for);

}  // namespace tls

#endif  // BASE_CERTIFICATE_SIGNING_H_
