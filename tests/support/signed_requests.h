// Signs certificate requests (PKCS #10) for tests, as the signer of a control plane does.
#ifndef TESTS_SUPPORT_SIGNED_REQUESTS_H_
#define TESTS_SUPPORT_SIGNED_REQUESTS_H_

#include <openssl/evp.h>
#include <openssl/pem.h>
#include <openssl/x509.h>

#include <memory>
#include <string>

#include "absl/time/time.h"

namespace tests {

struct SignedFor {
  absl::Time not_before;
  absl::Duration life;
};

// Returns the certificate, as PEM, for the request's key and subject; "" when it is not one. The
// authority is new for each call, and nobody trusts it.
inline std::string SignRequest(const std::string& request_pem, const SignedFor& time) {
  const std::unique_ptr<BIO, decltype(&BIO_free_all)> in(
      BIO_new_mem_buf(request_pem.data(), static_cast<int>(request_pem.size())), BIO_free_all);
  const std::unique_ptr<X509_REQ, decltype(&X509_REQ_free)> request(
      PEM_read_bio_X509_REQ(in.get(), nullptr, nullptr, nullptr), X509_REQ_free);
  if (request == nullptr) return "";
  const std::unique_ptr<EVP_PKEY, decltype(&EVP_PKEY_free)> authority(EVP_EC_gen("P-256"),
                                                                      EVP_PKEY_free);
  const std::unique_ptr<X509, decltype(&X509_free)> certificate(X509_new(), X509_free);
  X509_set_version(certificate.get(), 2);
  ASN1_INTEGER_set(X509_get_serialNumber(certificate.get()), 1);
  ASN1_TIME_set(X509_getm_notBefore(certificate.get()), absl::ToTimeT(time.not_before));
  ASN1_TIME_set(X509_getm_notAfter(certificate.get()), absl::ToTimeT(time.not_before + time.life));
  X509_set_subject_name(certificate.get(), X509_REQ_get_subject_name(request.get()));
  X509_set_issuer_name(certificate.get(), X509_REQ_get_subject_name(request.get()));
  X509_set_pubkey(certificate.get(), X509_REQ_get0_pubkey(request.get()));
  X509_sign(certificate.get(), authority.get(), EVP_sha256());
  const std::unique_ptr<BIO, decltype(&BIO_free_all)> out(BIO_new(BIO_s_mem()), BIO_free_all);
  PEM_write_bio_X509(out.get(), certificate.get());
  char* text = nullptr;
  const long length = BIO_get_mem_data(out.get(), &text);
  return std::string(text, static_cast<size_t>(length));
}

}  // namespace tests

#endif  // TESTS_SUPPORT_SIGNED_REQUESTS_H_
