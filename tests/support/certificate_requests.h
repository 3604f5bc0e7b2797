// Makes certificate requests (PKCS #10) for tests.
#ifndef TESTS_SUPPORT_CERTIFICATE_REQUESTS_H_
#define TESTS_SUPPORT_CERTIFICATE_REQUESTS_H_

#include <openssl/evp.h>
#include <openssl/pem.h>
#include <openssl/x509v3.h>

#include <memory>
#include <string>
#include <vector>

namespace tests {

struct RequestContent {
  std::vector<std::string> organizations = {"system:karmada:agents"};
  std::vector<std::string> common_names = {"system:karmada:agent:m1"};
  std::string alternative_names;     // As in OpenSSL's configuration: "DNS:a.example.com".
  bool two_extension_lists = false;  // The names are in the second one, in Microsoft's way.
};

inline void AddNames(X509_NAME* subject, const char* attribute,
                     const std::vector<std::string>& values) {
  for (const std::string& value : values) {
    X509_NAME_add_entry_by_txt(subject, attribute, MBSTRING_UTF8,
                               reinterpret_cast<const unsigned char*>(value.data()),
                               static_cast<int>(value.size()), -1, 0);
  }
}

inline void AddExtension(X509_REQ* request, int nid, const std::string& value,
                         int attribute = NID_ext_req) {
  X509_EXTENSION* extension = X509V3_EXT_conf_nid(nullptr, nullptr, nid, value.c_str());
  STACK_OF(X509_EXTENSION)* list = sk_X509_EXTENSION_new_null();
  sk_X509_EXTENSION_push(list, extension);
  X509_REQ_add_extensions_nid(request, list, attribute);
  sk_X509_EXTENSION_pop_free(list, X509_EXTENSION_free);
}

// Returns the PEM text of a signed request with a new key.
inline std::string MakeCertificateRequest(const RequestContent& content = {}) {
  const std::unique_ptr<EVP_PKEY, decltype(&EVP_PKEY_free)> key(EVP_EC_gen("P-256"), EVP_PKEY_free);
  const std::unique_ptr<X509_REQ, decltype(&X509_REQ_free)> request(X509_REQ_new(), X509_REQ_free);
  X509_NAME* subject = X509_REQ_get_subject_name(request.get());
  AddNames(subject, "O", content.organizations);
  AddNames(subject, "CN", content.common_names);
  if (content.two_extension_lists) {
    AddExtension(request.get(), NID_key_usage, "digitalSignature");
  }
  if (!content.alternative_names.empty()) {
    AddExtension(request.get(), NID_subject_alt_name, content.alternative_names,
                 content.two_extension_lists ? NID_ms_ext_req : NID_ext_req);
  }
  X509_REQ_set_pubkey(request.get(), key.get());
  X509_REQ_sign(request.get(), key.get(), EVP_sha256());
  const std::unique_ptr<BIO, decltype(&BIO_free_all)> out(BIO_new(BIO_s_mem()), BIO_free_all);
  PEM_write_bio_X509_REQ(out.get(), request.get());
  char* text = nullptr;
  const long length = BIO_get_mem_data(out.get(), &text);
  return std::string(text, static_cast<size_t>(length));
}

}  // namespace tests

#endif  // TESTS_SUPPORT_CERTIFICATE_REQUESTS_H_
