// Configures OpenSSL contexts. Credentials of clients are parsed into reference-counted OpenSSL
// objects (roots once, key pairs when they are needed), and Apply hands those to each connection,
// or to its context. A server either checks certificates of clients in the handshake against its
// authorities, or accepts all, so that the handler of a request judges them
// (any_client_certificate); in the second case sessions are not resumed, because a resumed one has
// no certificates to judge.
//
// Nothing is reloaded here: when files change, whoever reads them makes new credentials.

#include "base/tls.h"

#include <openssl/err.h>
#include <openssl/x509v3.h>

#include <algorithm>
#include <iterator>
#include <utility>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "base/internal/openssl.h"
#include "base/internal/shared_credentials.h"
#include "base/internal/system_roots.h"
#include "base/status.h"
#include "base/tls_connection.h"

namespace tls {
namespace {

using internal::CertPtr;
using internal::Identity;
using internal::ParsedWhenNeeded;
using internal::StorePtr;

// Does for a connection what Identity::Apply does for a context.
absl::Status Show(const Identity& identity, SSL* ssl) {
  const std::vector<CertPtr>& chain = identity.chain;
  if (SSL_use_certificate(ssl, chain.front().get()) != 1) {
    return internal::LastError("certificate");
  }
  if (SSL_clear_chain_certs(ssl) != 1) return internal::LastError("certificate chain");
  for (size_t i = 1; i < chain.size(); ++i) {
    if (SSL_add1_chain_cert(ssl, chain[i].get()) != 1) {
      return internal::LastError("certificate chain");
    }
  }
  if (SSL_use_PrivateKey(ssl, identity.key.get()) != 1) return internal::LastError("private key");
  return absl::OkStatus();
}

class SharedCredentials : public ClientCredentials {
 public:
  // Null for `roots` stands for the system's, for `identity` no client certificate.
  SharedCredentials(std::shared_ptr<X509_STORE> roots, bool skip_verify,
                    std::unique_ptr<ParsedWhenNeeded> identity)
      : roots_(std::move(roots)), skip_verify_(skip_verify), identity_(std::move(identity)) {}

  absl::Status Apply(ssl_ctx_st* ctx) const override {
    internal::SetCommonOptions(ctx);
    // Keeps the callback: it is the host name check of the HTTP library.
    SSL_CTX_set_verify(ctx, skip_verify_ ? SSL_VERIFY_NONE : SSL_VERIFY_PEER,
                       SSL_CTX_get_verify_callback(ctx));
    if (!skip_verify_) {
      // The context adds a reference of its own to the store.
      SSL_CTX_set1_cert_store(ctx, roots_ ? roots_.get() : internal::SystemRoots());
    }
    return identity_ == nullptr ? absl::OkStatus() : identity_->Get()->Apply(ctx);
  }

  absl::Status ApplyTo(ssl_st* ssl) const {
    // This does for a connection what SetCommonOptions does for a context.
    SSL_set_min_proto_version(ssl, TLS1_2_VERSION);
    SSL_set_max_proto_version(ssl, 0);
    SSL_set_mode(ssl, SSL_MODE_RELEASE_BUFFERS);
    SSL_set_verify(ssl, skip_verify_ ? SSL_VERIFY_NONE : SSL_VERIFY_PEER,
                   SSL_get_verify_callback(ssl));
    if (!skip_verify_) {
      X509_STORE* const store = roots_ ? roots_.get() : internal::SystemRoots();
      SSL_set1_verify_cert_store(ssl, store);
      // The store of a context also completes the chain of the client's own certificate, and so
      // this one has to.
      SSL_set1_chain_cert_store(ssl, store);
    }
    return identity_ == nullptr ? absl::OkStatus() : Show(*identity_->Get(), ssl);
  }

 private:
  const std::shared_ptr<X509_STORE> roots_;
  const bool skip_verify_;
  const std::unique_ptr<ParsedWhenNeeded> identity_;
};

// Lets every certificate pass the handshake, and remembers that nobody has verified it.
int AcceptUnverified(X509_STORE_CTX* ctx, void*) {
  X509_STORE_CTX_set_error(ctx, X509_V_ERR_APPLICATION_VERIFICATION);
  return 1;
}

// A resumed session would have lost the certificates between the client's own and its authority.
void RefuseResumption(SSL_CTX* ctx) {
  SSL_CTX_set_options(ctx, SSL_OP_NO_TICKET);
  SSL_CTX_set_num_tickets(ctx, 0);
  SSL_CTX_set_session_cache_mode(ctx, SSL_SESS_CACHE_OFF);
}

// Asks for client certificates of `ca_pem`, but does not require them.
absl::Status AcceptClientCertificates(SSL_CTX* ctx, absl::string_view ca_pem) {
  auto certificates = internal::ParseCertificates(ca_pem);
  if (!certificates.ok()) return base::Annotate(certificates.status(), "client authority");
  ASSIGN_OR_RETURN(const StorePtr store, internal::NewStore(*certificates));
  SSL_CTX_set1_cert_store(ctx, store.get());
  for (const CertPtr& certificate : *certificates) SSL_CTX_add_client_CA(ctx, certificate.get());
  SSL_CTX_set_verify(ctx, SSL_VERIFY_PEER, nullptr);
  return absl::OkStatus();
}

// A group for exchanging keys: its number in TLS, and its names in Go and in OpenSSL.
struct Group {
  int number;
  const char* name;
  const char* in_openssl;
};
constexpr Group kGroups[] = {
    {23, "CurveP256", "P-256"},
    {24, "CurveP384", "P-384"},
    {25, "CurveP521", "P-521"},
    {29, "X25519", "X25519"},
    {4587, "SecP256r1MLKEM768", "SecP256r1MLKEM768"},
    {4588, "X25519MLKEM768", "X25519MLKEM768"},
    {4589, "SecP384r1MLKEM1024", "SecP384r1MLKEM1024"},
};

// Returns OpenSSL's name of the group.
absl::StatusOr<const char*> GroupOf(int number) {
  const auto* const group = std::find_if(std::begin(kGroups), std::end(kGroups),
                                         [&](const Group& g) { return g.number == number; });
  if (group == std::end(kGroups)) {
    return absl::InvalidArgumentError(
        absl::StrCat("there is no group for exchanging keys of number ", number));
  }
  const std::unique_ptr<SSL_CTX, internal::Freer<SSL_CTX_free>> trial(
      SSL_CTX_new(TLS_server_method()));
  if (SSL_CTX_set1_groups_list(trial.get(), group->in_openssl) == 1) return group->in_openssl;
  ERR_clear_error();
  return absl::InvalidArgumentError(absl::StrCat("the group ", number, " (", group->name,
                                                 ") is not in ", OpenSSL_version(OPENSSL_VERSION)));
}

}  // namespace

absl::StatusOr<std::string> KeyExchangeGroups(const std::vector<int>& numbers) {
  std::vector<const char*> names;
  for (auto number = numbers.begin(); number != numbers.end(); ++number) {
    if (std::find(numbers.begin(), number, *number) != number) {
      return absl::InvalidArgumentError(absl::StrCat("the group ", *number, " is there twice"));
    }
    ASSIGN_OR_RETURN(names.emplace_back(), GroupOf(*number));
  }
  return absl::StrJoin(names, ":");
}

absl::StatusOr<std::shared_ptr<const ClientCredentials>> ClientCredentials::Create(
    const Options& options) {
  std::shared_ptr<X509_STORE> roots;
  if (!options.ca_pem.empty()) {
    auto shared = internal::SharedRoots(options.ca_pem);
    if (!shared.ok()) return base::Annotate(shared.status(), "certificate authority");
    roots = *std::move(shared);
  }
  std::unique_ptr<ParsedWhenNeeded> identity;
  if (!options.client.cert_pem.empty() || !options.client.key_pem.empty()) {
    auto parsed = ParsedWhenNeeded::Create(options.client);
    if (!parsed.ok()) return base::Annotate(parsed.status(), "client certificate");
    identity = *std::move(parsed);
  }
  return std::make_shared<SharedCredentials>(std::move(roots), options.skip_verify,
                                             std::move(identity));
}

namespace {

absl::Status RequireName(X509_VERIFY_PARAM* param, const std::string& host) {
  // Tries an IP address first; a host name is never a valid one.
  if (X509_VERIFY_PARAM_set1_ip_asc(param, host.c_str()) == 1) return absl::OkStatus();
  ERR_clear_error();
  X509_VERIFY_PARAM_set_hostflags(
      param, X509_CHECK_FLAG_NEVER_CHECK_SUBJECT | X509_CHECK_FLAG_NO_PARTIAL_WILDCARDS);
  // An empty name would switch the check off.
  if (!host.empty() && X509_VERIFY_PARAM_set1_host(param, host.c_str(), host.size()) == 1) {
    return absl::OkStatus();
  }
  return internal::LastError("server name");
}

}  // namespace

absl::Status RequireServerName(ssl_ctx_st* ctx, const std::string& host) {
  return RequireName(SSL_CTX_get0_param(ctx), host);
}

absl::Status Apply(const ClientCredentials& credentials, ssl_st* ssl) {
  // There are no others.
  return static_cast<const SharedCredentials&>(credentials).ApplyTo(ssl);
}

absl::Status RequireServerName(ssl_st* ssl, const std::string& host) {
  return RequireName(SSL_get0_param(ssl), host);
}

absl::Status ConfigureServer(ssl_ctx_st* ctx, const ServerOptions& options) {
  internal::SetCommonOptions(ctx);
  auto identity = Identity::Parse(options.server);
  if (!identity.ok()) return base::Annotate(identity.status(), "server certificate");
  RETURN_IF_ERROR(identity->Apply(ctx));
  // Without a context id, OpenSSL refuses to resume sessions when client certificates are checked.
  constexpr unsigned char kSessionContext[] = "base";
  SSL_CTX_set_session_id_context(ctx, kSessionContext, sizeof(kSessionContext) - 1);
  if (options.only_tls13) SSL_CTX_set_min_proto_version(ctx, TLS1_3_VERSION);
  if (!options.groups.empty() && SSL_CTX_set1_groups_list(ctx, options.groups.c_str()) != 1) {
    return internal::LastError("groups for exchanging keys");
  }
  if (!options.client_ca_pem.empty()) {
    RETURN_IF_ERROR(AcceptClientCertificates(ctx, options.client_ca_pem));
  }
  // What follows replaces the verification that AcceptClientCertificates has set up; the list of
  // authorities that clients are told stays.
  if (!options.any_client_certificate) return absl::OkStatus();
  SSL_CTX_set_verify(ctx, SSL_VERIFY_PEER, nullptr);
  SSL_CTX_set_cert_verify_callback(ctx, &AcceptUnverified, nullptr);
  RefuseResumption(ctx);
  return absl::OkStatus();
}

}  // namespace tls
