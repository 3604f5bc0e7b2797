// Reads the files with certificates and keys that a program's flags name.
#ifndef BASE_PEM_FILES_H_
#define BASE_PEM_FILES_H_

#include <string>

#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"
#include "base/tls.h"

namespace tls {

struct FlagFile {
  absl::string_view flag;  // "--client-ca-file"
  std::string path;
};

// Returns the text of a file with at least one certificate. Errors begin with the flag and name the
// file: "--client-ca-file: ca.crt is empty".
absl::StatusOr<std::string> ReadCertificates(const FlagFile& file);

// Reads a certificate and its key. The error says what is wrong with both.
absl::StatusOr<KeyPair> ReadKeyPair(const FlagFile& certificate, const FlagFile& key);

}  // namespace tls

#endif  // BASE_PEM_FILES_H_
