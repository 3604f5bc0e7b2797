// The page's server over a simulated control plane, and somebody who asks it.
#ifndef TESTS_LENS_SERVE_SHOWN_SERVER_H_
#define TESTS_LENS_SERVE_SHOWN_SERVER_H_

#include <catch2/catch.hpp>
#include <memory>
#include <string>
#include <utility>

#include "absl/strings/str_cat.h"
#include "base/tls.h"
#include "kube/http/http_transport.h"
#include "lens/serve/server.h"
#include "tests/lens/serve/served_plane.h"

namespace tests {

struct ShownServer : ServedPlane {
  std::unique_ptr<lens::serve::Server> server;

  explicit ShownServer(int members) : ServedPlane(members) {}

  void Start(lens::serve::Mode mode) { StartWith(OptionsFor(mode)); }

  lens::serve::ServeOptions OptionsFor(lens::serve::Mode mode) const {
    lens::serve::ServeOptions options;
    options.mode = mode;
    options.plane = plane;
    options.flags.flags = " --kubeconfig /k";
    if (mode == lens::serve::Mode::kTokens) {
      const auto authority = *tls::CertificateAuthority::Create("test");
      options.certificate =
          *authority->Issue({.common_name = "page", .ip_addresses = {"127.0.0.1"}});
    }
    return options;
  }

  void StartWith(lens::serve::ServeOptions options) {
    scheme_ = options.mode == lens::serve::Mode::kTokens ? "https" : "http";
    server = *lens::serve::Server::Start(std::move(options));
  }

  kube::ConnectionConfig Address(const std::string& token = "") const {
    kube::ConnectionConfig config;
    config.server = absl::StrCat(scheme_, "://127.0.0.1:", server->port());
    config.insecure_skip_tls_verify = true;
    config.token = token;
    return config;
  }

  kube::HttpResponse Get(const std::string& path, const std::string& token = "",
                         const std::string& method = "GET") const {
    kube::HttpRequest request;
    request.method = method;
    request.path = path;
    request.timeout = absl::Minutes(1);
    const auto transport = *kube::NewHttpTransport(Address(token));
    const auto answer = transport->Send(request, {});
    INFO(answer.status());
    REQUIRE(answer.ok());
    return *answer;
  }

  json::Value Json(const std::string& path, const std::string& token = "") const {
    const kube::HttpResponse answer = Get(path, token);
    INFO(path << " " << answer.body);
    CHECK(answer.code == 200);
    CHECK(answer.headers.at("cache-control") == "no-store");
    return json::Parse(answer.body).value();
  }

 private:
  const char* scheme_ = "http";
};

}  // namespace tests

#endif  // TESTS_LENS_SERVE_SHOWN_SERVER_H_
