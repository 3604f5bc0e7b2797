// Parses private keys. Private to base/.
#ifndef BASE_INTERNAL_PRIVATE_KEY_H_
#define BASE_INTERNAL_PRIVATE_KEY_H_

#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"
#include "base/internal/openssl.h"

namespace tls::internal {

// Returns the first private key of a PEM text, which must not need a passphrase.
absl::StatusOr<KeyPtr> ParseKey(absl::string_view pem);

}  // namespace tls::internal

#endif  // BASE_INTERNAL_PRIVATE_KEY_H_
