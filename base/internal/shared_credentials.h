// What is parsed of the PEM texts of many clients, so that a process with a thousand of them holds
// little of it. Private to base/.
#ifndef BASE_INTERNAL_SHARED_CREDENTIALS_H_
#define BASE_INTERNAL_SHARED_CREDENTIALS_H_

#include <openssl/x509.h>

#include <memory>

#include "absl/base/thread_annotations.h"
#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"
#include "absl/synchronization/mutex.h"
#include "base/internal/openssl.h"
#include "base/tls.h"

namespace tls::internal {

// Returns a store that trusts the certificates of a PEM text. The same text has one store, for as
// long as somebody holds it; it must not be changed. Thread-safe. kInvalidArgument.
absl::StatusOr<std::shared_ptr<X509_STORE>> SharedRoots(absl::string_view pem);

// A key pair that is parsed when somebody needs it, and again when nobody has needed it lately:
// with what OpenSSL adds to a key that has signed, it takes 14 kB, and its text 2. Of all those of
// the process the last few that were parsed are kept. Thread-safe.
class ParsedWhenNeeded {
 public:
  // kInvalidArgument if it cannot be parsed.
  static absl::StatusOr<std::unique_ptr<ParsedWhenNeeded>> Create(KeyPair pair);
  // Connections may hold parts of it longer.
  std::shared_ptr<const Identity> Get() const;

 private:
  explicit ParsedWhenNeeded(KeyPair pair) : pair_(std::move(pair)) {}

  const KeyPair pair_;
  mutable absl::Mutex mu_;
  mutable std::weak_ptr<const Identity> parsed_ ABSL_GUARDED_BY(mu_);
};

}  // namespace tls::internal

#endif  // BASE_INTERNAL_SHARED_CREDENTIALS_H_
