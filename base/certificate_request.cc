#include "base/certificate_request.h"

#include <openssl/err.h>
#include <openssl/pem.h>
#include <openssl/x509v3.h>

#include <memory>

#include "absl/strings/ascii.h"
#include "absl/strings/match.h"
#include "base/internal/openssl.h"

namespace tls {
namespace {

constexpr char kBegin[] = "-----BEGIN CERTIFICATE REQUEST-----";

void FreeExtensions(STACK_OF(X509_EXTENSION) * list) {
  sk_X509_EXTENSION_pop_free(list, X509_EXTENSION_free);
}
using internal::BioPtr;
using internal::Freer;
using RequestPtr = std::unique_ptr<X509_REQ, Freer<X509_REQ_free>>;
using ExtensionsPtr = std::unique_ptr<STACK_OF(X509_EXTENSION), Freer<FreeExtensions>>;

std::string Utf8(const ASN1_STRING* text) {
  unsigned char* bytes = nullptr;
  const int length = ASN1_STRING_to_UTF8(&bytes, text);
  if (length < 0) return "";
  std::string out(reinterpret_cast<char*>(bytes), static_cast<size_t>(length));
  OPENSSL_free(bytes);
  return out;
}

std::vector<std::string> ValuesOf(X509_NAME* subject, int nid) {
  std::vector<std::string> values;
  for (int at = X509_NAME_get_index_by_NID(subject, nid, -1); at >= 0;
       at = X509_NAME_get_index_by_NID(subject, nid, at)) {
    values.push_back(Utf8(X509_NAME_ENTRY_get_data(X509_NAME_get_entry(subject, at))));
  }
  return values;
}

bool HasAlternativeNames(X509_REQ* request) {
  int lists = 0;
  for (int i = 0; i < X509_REQ_get_attr_count(request); ++i) {
    X509_ATTRIBUTE* attribute = X509_REQ_get_attr(request, i);
    const int nid = OBJ_obj2nid(X509_ATTRIBUTE_get0_object(attribute));
    if (nid == NID_ext_req || nid == NID_ms_ext_req) lists += X509_ATTRIBUTE_count(attribute);
  }
  if (lists == 0) return false;
  if (lists > 1) return true;
  const ExtensionsPtr extensions(X509_REQ_get_extensions(request));
  return extensions == nullptr ||
         X509v3_get_ext_by_NID(extensions.get(), NID_subject_alt_name, -1) >= 0;
}

}  // namespace

absl::StatusOr<CertificateRequest> CertificateRequest::Parse(absl::string_view pem) {
  if (!absl::StartsWith(absl::StripLeadingAsciiWhitespace(pem), kBegin)) {
    return absl::InvalidArgumentError(
        "it does not begin with a PEM block of type CERTIFICATE REQUEST");
  }
  const BioPtr bio(BIO_new_mem_buf(pem.data(), static_cast<int>(pem.size())));
  const RequestPtr request(PEM_read_bio_X509_REQ(bio.get(), nullptr, nullptr, nullptr));
  ERR_clear_error();
  if (request == nullptr) {
    return absl::InvalidArgumentError("its PEM block is not a certificate request");
  }
  CertificateRequest out;
  X509_NAME* subject = X509_REQ_get_subject_name(request.get());
  out.common_names = ValuesOf(subject, NID_commonName);
  out.organizations = ValuesOf(subject, NID_organizationName);
  out.has_alternative_names = HasAlternativeNames(request.get());
  ERR_clear_error();
  return out;
}

}  // namespace tls
