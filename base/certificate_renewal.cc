#include "base/certificate_renewal.h"

#include <openssl/asn1.h>
#include <openssl/pem.h>

#include <algorithm>
#include <ctime>
#include <memory>
#include <vector>

#include "base/internal/openssl.h"
#include "base/status.h"

namespace tls {
namespace {

using internal::BioPtr;
using internal::CertPtr;
using internal::Freer;
using internal::KeyPtr;
using internal::LastError;
using RequestPtr = std::unique_ptr<X509_REQ, Freer<X509_REQ_free>>;

absl::StatusOr<absl::Time> TimeOf(const ASN1_TIME* time) {
  std::tm parts = {};
  if (ASN1_TIME_to_tm(time, &parts) != 1) return LastError("time of a certificate");
  return absl::FromTM(parts, absl::UTCTimeZone());
}

std::string TextOf(BIO* bio) {
  char* data = nullptr;
  const long size = BIO_get_mem_data(bio, &data);  // NOLINT(runtime/int): OpenSSL's type.
  return std::string(data, static_cast<size_t>(size));
}

}  // namespace

absl::StatusOr<Validity> ValidityOf(absl::string_view cert_pem) {
  ASSIGN_OR_RETURN(const std::vector<CertPtr> chain, internal::ParseCertificates(cert_pem));
  Validity all{absl::InfinitePast(), absl::InfiniteFuture()};
  for (const CertPtr& certificate : chain) {
    ASSIGN_OR_RETURN(const absl::Time begin, TimeOf(X509_get0_notBefore(certificate.get())));
    ASSIGN_OR_RETURN(const absl::Time end, TimeOf(X509_get0_notAfter(certificate.get())));
    all.not_before = std::max(all.not_before, begin);
    all.not_after = std::min(all.not_after, end);
  }
  if (all.not_before < all.not_after) return all;
  return absl::InvalidArgumentError("the certificates are not valid at the same time");
}

absl::StatusOr<RenewalRequest> RenewalRequest::For(absl::string_view cert_pem) {
  ASSIGN_OR_RETURN(const std::vector<CertPtr> chain, internal::ParseCertificates(cert_pem));
  const KeyPtr key(EVP_EC_gen("P-256"));
  if (key == nullptr) return LastError("key generation");
  const RequestPtr request(X509_REQ_new());
  const bool is_made =
      request != nullptr &&
      X509_REQ_set_subject_name(request.get(), X509_get_subject_name(chain[0].get())) == 1 &&
      X509_REQ_set_pubkey(request.get(), key.get()) == 1 &&
      X509_REQ_sign(request.get(), key.get(), EVP_sha256()) > 0;
  if (!is_made) return LastError("certificate request");
  const BioPtr key_text(BIO_new(BIO_s_mem())), request_text(BIO_new(BIO_s_mem()));
  if (PEM_write_bio_PrivateKey(key_text.get(), key.get(), nullptr, nullptr, 0, nullptr, nullptr) !=
          1 ||
      PEM_write_bio_X509_REQ(request_text.get(), request.get()) != 1) {
    return LastError("certificate request");
  }
  return RenewalRequest{TextOf(key_text.get()), TextOf(request_text.get())};
}

absl::Status CheckKeyPair(const std::string& cert_pem, const std::string& key_pem) {
  return internal::Identity::Parse({cert_pem, key_pem}).status();
}

}  // namespace tls
