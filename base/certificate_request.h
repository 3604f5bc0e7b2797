// Reads a certificate request (PKCS #10): who asks to be called what.
#ifndef BASE_CERTIFICATE_REQUEST_H_
#define BASE_CERTIFICATE_REQUEST_H_

#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"

namespace tls {

struct CertificateRequest {
  // The values of these attributes of the subject, as UTF-8, in their order.
  std::vector<std::string> common_names;
  std::vector<std::string> organizations;
  // Whether it asks for alternative names of any kind, or has more than one list of extensions, of
  // which readers may take different ones.
  bool has_alternative_names = false;

  // Reads the PEM block "CERTIFICATE REQUEST" with which `pem` begins. The signature is not
  // verified. kInvalidArgument says what is wrong.
  static absl::StatusOr<CertificateRequest> Parse(absl::string_view pem);
};

}  // namespace tls

#endif  // BASE_CERTIFICATE_REQUEST_H_
