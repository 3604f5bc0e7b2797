// A certificate authority whose key lives in memory only: it is made new at each start, so
// certificates of an earlier run are worthless. OpenSSL's "set0" and "push" functions take
// ownership of what they are given, the "set1" and "add1" functions copy; raw pointers here are
// those that have been given away. Keys are ECDSA P-256, because such a key is made much faster
// than one for RSA.

#include <openssl/bn.h>
#include <openssl/pem.h>
#include <openssl/rand.h>
#include <openssl/x509v3.h>

#include <algorithm>
#include <utility>

#include "base/certificate_signing.h"
#include "base/clock.h"
#include "base/internal/openssl.h"
#include "base/status.h"
#include "base/tls.h"

namespace tls {
namespace {

using internal::BioPtr;
using internal::CertPtr;
using internal::Freer;
using internal::KeyPtr;
using internal::LastError;

using ExtensionPtr = std::unique_ptr<X509_EXTENSION, Freer<X509_EXTENSION_free>>;
using BigNumberPtr = std::unique_ptr<BIGNUM, Freer<BN_free>>;
using NamesPtr = std::unique_ptr<GENERAL_NAMES, Freer<GENERAL_NAMES_free>>;
using RequestPtr = std::unique_ptr<X509_REQ, Freer<X509_REQ_free>>;
using OctetsPtr = std::unique_ptr<ASN1_OCTET_STRING, Freer<ASN1_OCTET_STRING_free>>;

absl::StatusOr<KeyPtr> NewKey() {
  KeyPtr key(EVP_EC_gen("P-256"));
  if (key == nullptr) return LastError("key generation");
  return key;
}

template <class Writer>
std::string ToPem(Writer write) {
  const BioPtr bio(BIO_new(BIO_s_mem()));
  write(bio.get());
  char* data = nullptr;
  const long size = BIO_get_mem_data(bio.get(), &data);  // NOLINT(runtime/int): OpenSSL's type.
  return std::string(data, size);
}

std::string CertPem(X509* certificate) {
  return ToPem([&](BIO* bio) { PEM_write_bio_X509(bio, certificate); });
}

std::string KeyPem(EVP_PKEY* key) {
  return ToPem(
      [&](BIO* bio) { PEM_write_bio_PrivateKey(bio, key, nullptr, nullptr, 0, nullptr, nullptr); });
}

absl::Status AddNamePart(X509_NAME* name, const char* field, absl::string_view value) {
  const auto* bytes = reinterpret_cast<const unsigned char*>(value.data());
  const int size = static_cast<int>(value.size());
  if (X509_NAME_add_entry_by_txt(name, field, MBSTRING_UTF8, bytes, size, -1, 0) != 1) {
    return LastError(absl::StrCat("subject ", field, "=", value));
  }
  return absl::OkStatus();
}

void SetRandomSerial(X509* certificate) {
  const BigNumberPtr serial(BN_new());
  // 120 bits are below the limit of 20 bytes, and enough that no two certificates have the same
  // number.
  BN_rand(serial.get(), 120, BN_RAND_TOP_ONE, BN_RAND_BOTTOM_ANY);
  BN_to_ASN1_INTEGER(serial.get(), X509_get_serialNumber(certificate));
}

void SetValidity(X509* certificate, absl::Time not_before, absl::Duration valid_for) {
  // The minute allows for clocks that are behind this one.
  if (not_before == absl::InfinitePast()) not_before = base::RealClock().Now() - absl::Minutes(1);
  ASN1_TIME_set(X509_getm_notBefore(certificate), absl::ToTimeT(not_before));
  ASN1_TIME_set(X509_getm_notAfter(certificate), absl::ToTimeT(not_before + valid_for));
}

struct Extension {
  int nid;
  const char* value;
};

// The value is in OpenSSL's configuration syntax, such as "critical,CA:TRUE".
absl::Status AddExtension(X509* certificate, X509* issuer, const Extension& extension) {
  X509V3_CTX context;
  X509V3_set_ctx_nodb(&context);
  // The identifiers of keys are derived from the keys of these two.
  X509V3_set_ctx(&context, issuer, certificate, nullptr, nullptr, 0);
  const ExtensionPtr built(X509V3_EXT_conf_nid(nullptr, &context, extension.nid, extension.value));
  if (built == nullptr || X509_add_ext(certificate, built.get(), -1) != 1) {
    return LastError("certificate extension");
  }
  return absl::OkStatus();
}

void AppendDnsName(GENERAL_NAMES* names, const std::string& dns) {
  ASN1_IA5STRING* text = ASN1_IA5STRING_new();
  ASN1_STRING_set(text, dns.data(), static_cast<int>(dns.size()));
  GENERAL_NAME* name = GENERAL_NAME_new();
  GENERAL_NAME_set0_value(name, GEN_DNS, text);
  sk_GENERAL_NAME_push(names, name);
}

absl::Status AppendIpAddress(GENERAL_NAMES* names, const std::string& ip) {
  OctetsPtr octets(a2i_IPADDRESS(ip.c_str()));
  if (octets == nullptr) {
    return absl::InvalidArgumentError(absl::StrCat("IP address: \"", ip, "\" is not one"));
  }
  GENERAL_NAME* name = GENERAL_NAME_new();
  GENERAL_NAME_set0_value(name, GEN_IPADD, octets.release());
  sk_GENERAL_NAME_push(names, name);
  return absl::OkStatus();
}

absl::Status AddAlternativeNames(X509* certificate,
                                 const CertificateAuthority::LeafOptions& options) {
  if (options.dns_names.empty() && options.ip_addresses.empty()) return absl::OkStatus();
  const NamesPtr names(GENERAL_NAMES_new());
  for (const std::string& dns : options.dns_names) AppendDnsName(names.get(), dns);
  for (const std::string& ip : options.ip_addresses) {
    RETURN_IF_ERROR(AppendIpAddress(names.get(), ip));
  }
  if (X509_add1_ext_i2d(certificate, NID_subject_alt_name, names.get(), 0, X509V3_ADD_DEFAULT) !=
      1) {
    return LastError("alternative names");
  }
  return absl::OkStatus();
}

absl::Status Sign(X509* certificate, EVP_PKEY* key) {
  return X509_sign(certificate, key, EVP_sha256()) > 0 ? absl::OkStatus() : LastError("signature");
}

// It is valid for ten years, longer than any process that has made it runs.
absl::StatusOr<CertPtr> NewRoot(absl::string_view common_name, EVP_PKEY* key) {
  CertPtr root(X509_new());
  X509_set_version(root.get(), X509_VERSION_3);
  SetRandomSerial(root.get());
  SetValidity(root.get(), absl::InfinitePast(), absl::Hours(24 * 365 * 10));
  X509_NAME* name = X509_get_subject_name(root.get());
  RETURN_IF_ERROR(AddNamePart(name, "CN", common_name));
  X509_set_issuer_name(root.get(), name);
  X509_set_pubkey(root.get(), key);
  for (const Extension& extension :
       {Extension{NID_basic_constraints, "critical,CA:TRUE"},
        Extension{NID_key_usage, "critical,digitalSignature,keyCertSign,cRLSign"},
        Extension{NID_subject_key_identifier, "hash"}}) {
    RETURN_IF_ERROR(AddExtension(root.get(), root.get(), extension));
  }
  RETURN_IF_ERROR(Sign(root.get(), key));
  return root;
}

class EcdsaAuthority : public CertificateAuthority {
 public:
  EcdsaAuthority(KeyPtr key, CertPtr cert)
      : key_(std::move(key)), cert_(std::move(cert)), cert_pem_(CertPem(cert_.get())) {}

  const std::string& cert_pem() const override { return cert_pem_; }

  absl::StatusOr<KeyPair> Issue(const LeafOptions& options) override {
    ASSIGN_OR_RETURN(const KeyPtr key, NewKey());
    const CertPtr leaf(X509_new());
    X509_set_version(leaf.get(), X509_VERSION_3);
    SetRandomSerial(leaf.get());
    SetValidity(leaf.get(), options.not_before, options.valid_for);
    RETURN_IF_ERROR(SetSubject(leaf.get(), options));
    X509_set_issuer_name(leaf.get(), X509_get_subject_name(cert_.get()));
    X509_set_pubkey(leaf.get(), key.get());
    RETURN_IF_ERROR(AddLeafExtensions(leaf.get()));
    RETURN_IF_ERROR(AddAlternativeNames(leaf.get(), options));
    // The signature is over everything above.
    RETURN_IF_ERROR(Sign(leaf.get(), key_.get()));
    return KeyPair{CertPem(leaf.get()), KeyPem(key.get())};
  }

  // Does what SignCertificateRequest promises; REQUIRES: the request could be parsed.
  absl::StatusOr<std::string> SignRequest(X509_REQ* request, absl::Time not_before,
                                          absl::Duration valid_for) const {
    EVP_PKEY* const key = X509_REQ_get0_pubkey(request);
    if (key == nullptr || X509_REQ_verify(request, key) != 1) {
      return absl::InvalidArgumentError("the request is not signed with its key");
    }
    const CertPtr leaf(X509_new());
    X509_set_version(leaf.get(), X509_VERSION_3);
    SetRandomSerial(leaf.get());
    SetValidity(leaf.get(), not_before, valid_for);
    X509_set_subject_name(leaf.get(), X509_REQ_get_subject_name(request));
    X509_set_issuer_name(leaf.get(), X509_get_subject_name(cert_.get()));
    X509_set_pubkey(leaf.get(), key);
    RETURN_IF_ERROR(AddLeafExtensions(leaf.get()));
    RETURN_IF_ERROR(Sign(leaf.get(), key_.get()));
    return CertPem(leaf.get());
  }

 private:
  static absl::Status SetSubject(X509* leaf, const LeafOptions& options) {
    X509_NAME* name = X509_get_subject_name(leaf);
    for (const std::string& organization : options.organizations) {
      RETURN_IF_ERROR(AddNamePart(name, "O", organization));
    }
    if (options.common_name.empty()) return absl::OkStatus();
    return AddNamePart(name, "CN", options.common_name);
  }

  absl::Status AddLeafExtensions(X509* leaf) const {
    // A key of ECDSA only signs, so keyEncipherment, which keys of RSA need, is absent.
    for (const Extension& extension : {Extension{NID_basic_constraints, "critical,CA:FALSE"},
                                       Extension{NID_key_usage, "critical,digitalSignature"},
                                       Extension{NID_ext_key_usage, "serverAuth,clientAuth"},
                                       Extension{NID_subject_key_identifier, "hash"},
                                       Extension{NID_authority_key_identifier, "keyid"}}) {
      RETURN_IF_ERROR(AddExtension(leaf, cert_.get(), extension));
    }
    return absl::OkStatus();
  }

  const KeyPtr key_;
  const CertPtr cert_;
  const std::string cert_pem_;
};

}  // namespace

absl::StatusOr<std::unique_ptr<CertificateAuthority>> CertificateAuthority::Create(
    absl::string_view common_name) {
  ASSIGN_OR_RETURN(KeyPtr key, NewKey());
  ASSIGN_OR_RETURN(CertPtr root, NewRoot(common_name, key.get()));
  return std::make_unique<EcdsaAuthority>(std::move(key), std::move(root));
}

absl::StatusOr<std::string> SignCertificateRequest(const CertificateAuthority& authority,
                                                   absl::string_view request_pem, absl::Time now,
                                                   absl::Duration valid_for) {
  constexpr absl::Duration kBefore = absl::Minutes(1);
  const BioPtr bio(BIO_new_mem_buf(request_pem.data(), static_cast<int>(request_pem.size())));
  const RequestPtr request(PEM_read_bio_X509_REQ(bio.get(), nullptr, nullptr, nullptr));
  if (request == nullptr) return absl::InvalidArgumentError("there is no certificate request");
  return static_cast<const EcdsaAuthority&>(authority).SignRequest(request.get(), now - kBefore,
                                                                   valid_for + kBefore);
}

}  // namespace tls
