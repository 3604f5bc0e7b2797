// HTTP servers on 127.0.0.1 for tests of the transport.
#ifndef TESTS_KUBE_HTTP_TEST_SERVER_H_
#define TESTS_KUBE_HTTP_TEST_SERVER_H_

#include <memory>
#include <string>
#include <utility>

#include "absl/strings/str_cat.h"
#include "base/http_server.h"
#include "base/tls.h"
#include "kube/http/http_transport.h"

namespace tests {

// Serves `handler` with a certificate of its own authority, and writes configurations for clients.
class TestServer {
 public:
  struct Options {
    bool tls = true;
    tls::CertificateAuthority::LeafOptions leaf = {.common_name = "server",
                                                   .ip_addresses = {"127.0.0.1", "::1"}};
    std::string address = "127.0.0.1:0";
  };

  explicit TestServer(base::HttpHandler handler) : TestServer(std::move(handler), Options()) {}
  TestServer(base::HttpHandler handler, const Options& options)
      : tls_(options.tls), authority_(*tls::CertificateAuthority::Create("test authority")) {
    tls::DisableSystemBundlePerConnection();
    base::HttpServerOptions server = {.address = options.address};
    if (tls_) {
      server.tls = tls::ServerOptions{.server = *authority_->Issue(options.leaf),
                                      .client_ca_pem = authority_->cert_pem()};
    }
    server_ = *base::HttpServer::Start(std::move(server), std::move(handler));
  }

  kube::ConnectionConfig Config(const std::string& host = "127.0.0.1") const {
    kube::ConnectionConfig config;
    config.server = absl::StrCat(tls_ ? "https://" : "http://", host, ":", server_->port());
    if (tls_) config.ca_pem = authority_->cert_pem();
    return config;
  }
  tls::CertificateAuthority& authority() { return *authority_; }
  base::HttpServer& server() { return *server_; }

 private:
  const bool tls_;
  const std::unique_ptr<tls::CertificateAuthority> authority_;
  std::unique_ptr<base::HttpServer> server_;
};

}  // namespace tests

#endif  // TESTS_KUBE_HTTP_TEST_SERVER_H_
