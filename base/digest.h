// Cryptographic digests.
#ifndef BASE_DIGEST_H_
#define BASE_DIGEST_H_

#include <string>

#include "absl/strings/string_view.h"

namespace base {

// Returns the 32 bytes of the SHA-256 digest.
std::string Sha256(absl::string_view bytes);

}  // namespace base

#endif  // BASE_DIGEST_H_
