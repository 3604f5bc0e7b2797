// The system's trust roots, parsed once. Private to base/.
#ifndef BASE_INTERNAL_SYSTEM_ROOTS_H_
#define BASE_INTERNAL_SYSTEM_ROOTS_H_

#include <openssl/x509.h>

namespace tls::internal {

// Loaded at the first call; lives for ever. Thread-safe. It trusts nothing where no bundle is
// found.
X509_STORE* SystemRoots();

}  // namespace tls::internal

#endif  // BASE_INTERNAL_SYSTEM_ROOTS_H_
