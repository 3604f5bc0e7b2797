// Which requests are let in, and what of a viewer goes to the control plane.
#include "lens/serve/access.h"

#include <catch2/catch.hpp>
#include <string>

#include "lens/serve/bounds.h"
#include "lens/serve/viewer.h"

using lens::serve::CheckRequest;
using lens::serve::Mode;
using lens::serve::TokenOf;

namespace {

base::HttpRequest Get(const std::string& host, const std::string& path = "/api/fleet") {
  base::HttpRequest request;
  request.method = "GET";
  request.path = request.target = path;
  request.headers["host"] = host;
  return request;
}

}  // namespace

TEST_CASE("Serve: a page of another name cannot ask the local server") {
  for (const char* host :
       {"localhost", "localhost:8090", "127.0.0.1:8090", "[::1]:8090", "127.8.9.1"}) {
    INFO(host);
    CHECK(CheckRequest(Mode::kLocal, Get(host)).ok());
  }
  for (const char* host : {"", "evil.example", "evil.example:8090", "localhost.evil.example",
                           "127.0.0.1.evil.example", "10.0.0.1:8090", "0.0.0.0"}) {
    INFO(host);
    CHECK(absl::IsPermissionDenied(CheckRequest(Mode::kLocal, Get(host))));
  }
  // With tokens the name does not matter: no page of another name has the token.
  CHECK(CheckRequest(Mode::kTokens, Get("fleet.example")).ok());
}

TEST_CASE("Serve: pages of other origins may link to the page, and not ask") {
  base::HttpRequest request = Get("localhost:8090");
  for (const char* site : {"cross-site", "same-site"}) {
    request.headers["sec-fetch-site"] = site;
    CHECK(absl::IsPermissionDenied(CheckRequest(Mode::kLocal, request)));
    request.path = "/";
    CHECK(CheckRequest(Mode::kLocal, request).ok());
    request.path = "/api/fleet";
  }
  for (const char* site : {"same-origin", "none"}) {
    request.headers["sec-fetch-site"] = site;
    CHECK(CheckRequest(Mode::kLocal, request).ok());
  }
}

TEST_CASE("Serve: an origin that is not that of the page may not ask, also of an old browser") {
  base::HttpRequest request = Get("localhost:8090");
  for (const char* origin :
       {"http://evil.example", "http://localhost:8091", "null", "https://localhost:8090"}) {
    request.headers["origin"] = origin;
    INFO(origin);
    CHECK(absl::IsPermissionDenied(CheckRequest(Mode::kLocal, request)));
  }
  request.headers["origin"] = "http://localhost:8090";
  CHECK(CheckRequest(Mode::kLocal, request).ok());
  request.headers["origin"] = "https://fleet.example";
  CHECK(CheckRequest(Mode::kTokens, request).ok());
}

TEST_CASE("Serve: only GET and HEAD, and no endless address") {
  base::HttpRequest request = Get("localhost");
  for (const char* method : {"POST", "PUT", "DELETE", "PATCH", "OPTIONS", "CONNECT"}) {
    request.method = method;
    CHECK(absl::IsUnimplemented(CheckRequest(Mode::kLocal, request)));
  }
  request.method = "HEAD";
  CHECK(CheckRequest(Mode::kLocal, request).ok());
  request.target = std::string(lens::serve::kMostTargetBytes + 1, 'a');
  CHECK(absl::IsInvalidArgument(CheckRequest(Mode::kLocal, request)));
}

TEST_CASE("Serve: a token is one word") {
  base::HttpRequest request = Get("fleet.example");
  CHECK(absl::IsUnauthenticated(TokenOf(request).status()));
  request.headers["authorization"] = "Bearer abc.def";
  CHECK(*TokenOf(request) == "abc.def");
  for (const std::string& value :
       {std::string("Basic abc"), std::string("Bearer"), std::string("Bearer "),
        std::string("Bearer a, Bearer b"), std::string("Bearer a b"),
        "Bearer " + std::string(lens::serve::kMostTokenBytes + 1, 'a')}) {
    request.headers["authorization"] = value;
    CHECK(absl::IsUnauthenticated(TokenOf(request).status()));
  }
}

TEST_CASE("Serve: with tokens nothing of the kubeconfig's credentials is used") {
  kube::ConnectionConfig plane;
  plane.server = "https://plane:6443";
  plane.ca_pem = "ca";
  plane.token = "admin";
  plane.token_file = "/admin";
  plane.username = plane.password = "admin";
  plane.client_certificate = {"cert", "key"};
  plane.client_certificate_file = plane.client_key_file = "/admin";
  plane.impersonate_user = "admin";
  plane.impersonate_groups = {"system:masters"};
  plane.exec = std::make_unique<kube::ExecPlugin>();
  kube::ConnectionConfig expected;
  expected.server = plane.server;
  expected.ca_pem = plane.ca_pem;
  expected.token = "viewer";
  CHECK(kube::SameConnection(lens::serve::WithToken(plane, "viewer"), expected));
}
