#include "base/pem_files.h"

#include "absl/status/status.h"
#include "absl/strings/str_cat.h"
#include "base/files.h"
#include "base/internal/openssl.h"
#include "base/internal/private_key.h"
#include "base/status.h"

namespace tls {
namespace {

absl::StatusOr<std::string> ReadText(const FlagFile& file) {
  auto text = base::ReadContent(file.path);
  if (!text.ok()) return base::Annotate(text.status(), file.flag);
  return text;
}

absl::StatusOr<std::string> ReadKey(const FlagFile& file) {
  ASSIGN_OR_RETURN(std::string text, ReadText(file));
  RETURN_IF_ERROR(base::Annotate(internal::ParseKey(text).status(), file.flag, ": ", file.path));
  return text;
}

}  // namespace

absl::StatusOr<std::string> ReadCertificates(const FlagFile& file) {
  ASSIGN_OR_RETURN(std::string text, ReadText(file));
  RETURN_IF_ERROR(
      base::Annotate(internal::ParseCertificates(text).status(), file.flag, ": ", file.path));
  return text;
}

absl::StatusOr<KeyPair> ReadKeyPair(const FlagFile& certificate, const FlagFile& key) {
  auto cert_pem = ReadCertificates(certificate);
  auto key_pem = ReadKey(key);
  if (!cert_pem.ok() && !key_pem.ok()) {
    return absl::Status(cert_pem.status().code(), absl::StrCat(cert_pem.status().message(), "; ",
                                                               key_pem.status().message()));
  }
  RETURN_IF_ERROR(cert_pem.status());
  RETURN_IF_ERROR(key_pem.status());
  KeyPair pair{*std::move(cert_pem), *std::move(key_pem)};
  RETURN_IF_ERROR(
      base::Annotate(internal::Identity::Parse(pair).status(), key.flag, ": ", key.path));
  return pair;
}

}  // namespace tls
