// The system's trust roots, which are parsed once. Private to base/.
#ifndef BASE_INTERNAL_SYSTEM_ROOTS_H_
#define BASE_INTERNAL_SYSTEM_ROOTS_H_

#include <openssl/x509.h>

namespace tls::internal {

// Returns the roots, which are loaded at the first call and never destroyed. Thread-safe. If there
// is not a bundle the store trusts nothing.
X509_STORE* SystemRoots();

}  // namespace tls::internal

#endif  // BASE_INTERNAL_SYSTEM_ROOTS_H_
