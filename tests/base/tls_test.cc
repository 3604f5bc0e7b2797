#include "base/tls.h"

#include <openssl/ssl.h>

#include <catch2/catch.hpp>
#include <memory>
#include <string>
#include <utility>

#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"

namespace {

using tls::CertificateAuthority;
using tls::ClientCredentials;
using tls::KeyPair;

struct Free {
  void operator()(SSL_CTX* ctx) const { SSL_CTX_free(ctx); }
  void operator()(SSL* ssl) const { SSL_free(ssl); }
};
using ContextPtr = std::unique_ptr<SSL_CTX, Free>;
using SslPtr = std::unique_ptr<SSL, Free>;

std::unique_ptr<CertificateAuthority> NewAuthority(absl::string_view name = "test authority") {
  auto authority = CertificateAuthority::Create(name);
  REQUIRE(authority.ok());
  return std::move(*authority);
}

KeyPair Issue(CertificateAuthority& authority, const CertificateAuthority::LeafOptions& options) {
  auto pair = authority.Issue(options);
  INFO(pair.status().ToString());
  REQUIRE(pair.ok());
  return *pair;
}

// A client and a server that shake hands in memory.
class Handshake {
 public:
  Handshake(const tls::ServerOptions& server, const ClientCredentials::Options& client,
            const std::string& host) {
    server_ctx_.reset(SSL_CTX_new(TLS_server_method()));
    REQUIRE(tls::ConfigureServer(server_ctx_.get(), server).ok());
    client_ctx_.reset(SSL_CTX_new(TLS_client_method()));
    const auto credentials = ClientCredentials::Create(client);
    INFO(credentials.status().ToString());
    REQUIRE(credentials.ok());
    REQUIRE((*credentials)->Apply(client_ctx_.get()).ok());
    server_.reset(SSL_new(server_ctx_.get()));
    client_.reset(SSL_new(client_ctx_.get()));
    BIO *a = nullptr, *b = nullptr;
    REQUIRE(BIO_new_bio_pair(&a, 1 << 16, &b, 1 << 16) == 1);
    SSL_set_bio(server_.get(), a, a);
    SSL_set_bio(client_.get(), b, b);
    SSL_set1_host(client_.get(), host.c_str());
    SSL_set_accept_state(server_.get());
    SSL_set_connect_state(client_.get());
  }

  bool Succeeds() {
    for (int i = 0; i < 10; ++i) {
      const int c = SSL_do_handshake(client_.get());
      const int s = SSL_do_handshake(server_.get());
      if (c == 1 && s == 1) return true;
      if (Broken(client_.get(), c) || Broken(server_.get(), s)) return false;
    }
    return false;
  }

  tls::PeerIdentity Peer() const { return tls::PeerOf(server_.get()); }
  int64_t verify_result() const { return SSL_get_verify_result(client_.get()); }
  void LimitClientTo(int version) { SSL_set_max_proto_version(client_.get(), version); }
  void LimitClientTo(const char* groups) { REQUIRE(SSL_set1_groups_list(client_.get(), groups)); }

 private:
  static bool Broken(SSL* ssl, int result) {
    const int error = SSL_get_error(ssl, result);
    return result != 1 && error != SSL_ERROR_WANT_READ && error != SSL_ERROR_WANT_WRITE;
  }

  ContextPtr server_ctx_, client_ctx_;
  SslPtr server_, client_;
};

TEST_CASE("a client trusts what its authority has issued for the host it asked for") {
  const auto authority = NewAuthority();
  const KeyPair server =
      Issue(*authority,
            {.common_name = "x", .dns_names = {"api.test"}, .ip_addresses = {"10.0.0.1", "::1"}});
  const ClientCredentials::Options client = {.ca_pem = authority->cert_pem()};
  CHECK(Handshake({server, ""}, client, "api.test").Succeeds());
  Handshake other({server, ""}, client, "other.test");
  CHECK_FALSE(other.Succeeds());
  CHECK(other.verify_result() == X509_V_ERR_HOSTNAME_MISMATCH);
}

TEST_CASE("a certificate of another authority, outdated or not yet valid, is refused") {
  const auto authority = NewAuthority();
  const ClientCredentials::Options client = {.ca_pem = authority->cert_pem()};
  CertificateAuthority::LeafOptions options = {.dns_names = {"api.test"}};
  SECTION("stranger of the same name") {
    const auto stranger = NewAuthority();
    Handshake h({Issue(*stranger, options), ""}, client, "api.test");
    CHECK_FALSE(h.Succeeds());
  }
  SECTION("outdated") {
    options.not_before = absl::Now() - absl::Hours(2);
    options.valid_for = absl::Hours(1);
    Handshake h({Issue(*authority, options), ""}, client, "api.test");
    CHECK_FALSE(h.Succeeds());
    CHECK(h.verify_result() == X509_V_ERR_CERT_HAS_EXPIRED);
  }
  SECTION("not yet valid") {
    options.not_before = absl::Now() + absl::Hours(1);
    Handshake h({Issue(*authority, options), ""}, client, "api.test");
    CHECK_FALSE(h.Succeeds());
    CHECK(h.verify_result() == X509_V_ERR_CERT_NOT_YET_VALID);
  }
}

TEST_CASE("verification can be switched off") {
  const auto authority = NewAuthority();
  const KeyPair server = Issue(*NewAuthority(), {.dns_names = {"other"}});
  CHECK(Handshake({server, ""}, {.skip_verify = true}, "api.test").Succeeds());
}

TEST_CASE("several authorities may be trusted at once, as while one is being replaced") {
  const auto old_one = NewAuthority("old"), new_one = NewAuthority("new");
  const ClientCredentials::Options client = {.ca_pem = old_one->cert_pem() + new_one->cert_pem()};
  for (CertificateAuthority* authority : {old_one.get(), new_one.get()}) {
    CHECK(Handshake({Issue(*authority, {.dns_names = {"a"}}), ""}, client, "a").Succeeds());
  }
}

TEST_CASE("a client certificate becomes an identity only when it was verified") {
  const auto authority = NewAuthority();
  const KeyPair server = Issue(*authority, {.dns_names = {"a"}});
  const KeyPair user = Issue(*authority, {.common_name = "jane", .organizations = {"dev", "ops"}});
  const ClientCredentials::Options client = {.ca_pem = authority->cert_pem(), .client = user};
  Handshake checked({server, authority->cert_pem()}, client, "a");
  REQUIRE(checked.Succeeds());
  CHECK(checked.Peer().common_name == "jane");
  CHECK(checked.Peer().organizations == std::vector<std::string>{"dev", "ops"});
  Handshake not_asked({server, ""}, client, "a");
  REQUIRE(not_asked.Succeeds());
  CHECK(not_asked.Peer().common_name == "");
  Handshake stranger({server, NewAuthority("other")->cert_pem()}, client, "a");
  CHECK_FALSE(stranger.Succeeds());
}

TEST_CASE("nothing older than TLS 1.2 is spoken") {
  const auto authority = NewAuthority();
  const KeyPair server = Issue(*authority, {.dns_names = {"a"}});
  const ClientCredentials::Options client = {.ca_pem = authority->cert_pem()};
  Handshake old_client({server, ""}, client, "a");
  old_client.LimitClientTo(TLS1_1_VERSION);
  CHECK_FALSE(old_client.Succeeds());
  Handshake next({server, ""}, client, "a");
  next.LimitClientTo(TLS1_2_VERSION);
  CHECK(next.Succeeds());
}

TEST_CASE("a server may allow some groups for exchanging keys alone") {
  const int version = GENERATE(TLS1_2_VERSION, TLS1_3_VERSION);
  const auto authority = NewAuthority();
  tls::ServerOptions options{.server = Issue(*authority, {.dns_names = {"a"}})};
  const auto succeeds = [&](const char* groups) {
    Handshake h(options, {.ca_pem = authority->cert_pem()}, "a");
    h.LimitClientTo(version);
    h.LimitClientTo(groups);
    return h.Succeeds();
  };
  // With TLS 1.2 a client has to know the curve of the server's certificate as well: P-256.
  CHECK(succeeds("P-256"));
  options.groups = tls::KeyExchangeGroups({24, 29}).value();
  CHECK_FALSE(succeeds("P-256"));
  CHECK_FALSE(succeeds("P-256:P-521"));
  CHECK(succeeds("P-256:P-384"));
  CHECK(succeeds("P-256:X25519"));
}

TEST_CASE("a group for exchanging keys that cannot be used is refused by its number") {
  CHECK(tls::KeyExchangeGroups({}).value().empty());
  CHECK(tls::KeyExchangeGroups({23, 24, 25, 29}).value() == "P-256:P-384:P-521:X25519");
  const auto message_of = [](const std::vector<int>& numbers) {
    return std::string(tls::KeyExchangeGroups(numbers).status().message());
  };
  CHECK(message_of({29, 1}) == "there is no group for exchanging keys of number 1");
  CHECK(message_of({23, 29, 23}) == "the group 23 is there twice");
  // Whether there is this one depends on OpenSSL.
  const auto hybrid = tls::KeyExchangeGroups({29, 4588});
  CHECK((hybrid.ok() ? *hybrid == "X25519:X25519MLKEM768"
                     : absl::StartsWith(message_of({29, 4588}),
                                        "the group 4588 (X25519MLKEM768) is not in OpenSSL ")));
}

TEST_CASE("unusable material is refused, saying which and why") {
  const auto authority = NewAuthority();
  const KeyPair good = Issue(*authority, {.common_name = "a"});
  const KeyPair other = Issue(*authority, {.common_name = "b"});
  const auto message_of = [](const ClientCredentials::Options& options) {
    const auto credentials = ClientCredentials::Create(options);
    CHECK(credentials.status().code() == absl::StatusCode::kInvalidArgument);
    return std::string(credentials.status().message());
  };
  CHECK(message_of({.ca_pem = "rubbish"}) ==
        "certificate authority: certificate: no PEM block found");
  CHECK(absl::StartsWith(
      message_of({.ca_pem = "-----BEGIN CERTIFICATE-----\nAAAA\n-----END CERTIFICATE-----\n"}),
      "certificate authority: certificate: "));
  CHECK(absl::StartsWith(
      message_of({.ca_pem = authority->cert_pem() + "-----BEGIN CERTIFICATE-----\n"}),
      "certificate authority: certificate: "));
  CHECK(message_of({.client = {good.cert_pem, ""}}) ==
        "client certificate: private key: no PEM block found");
  CHECK(message_of({.client = {"", good.key_pem}}) ==
        "client certificate: certificate: no PEM block found");
  CHECK(absl::StartsWith(message_of({.client = {good.cert_pem, other.key_pem}}),
                         "client certificate: private key does not belong to the certificate"));
}

TEST_CASE("an authority refuses what cannot be put into a certificate") {
  const auto authority = NewAuthority();
  CHECK_FALSE(authority->Issue({.ip_addresses = {"not an address"}}).ok());
  CHECK_FALSE(authority->Issue({.common_name = std::string(100, 'x')}).ok());  // The limit is 64.
}

TEST_CASE("without an authority of its own a client trusts the system's, not everybody") {
  const auto authority = NewAuthority();
  const KeyPair server = Issue(*authority, {.dns_names = {"a"}});
  CHECK_FALSE(Handshake({server, ""}, {}, "a").Succeeds());
}

}  // namespace
