#include "tests/advice/hooks.h"

#include <utility>

#include <catch2/catch.hpp>

#include "absl/strings/escaping.h"
#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "base/json.h"
#include "base/tls.h"

namespace tests::advice {
namespace {

// Returns an answer to any question: what it does not ask for is not read.
json::Value AnswerTo(const json::Value& question) {
  json::Value response = json::Value::Object({{"uid", question["uid"].ToString()},
                                              {"successful", true},
                                              {"replicas", 1},
                                              {"healthy", true},
                                              {"rawStatus", json::Value::Object({{"a", 1}})}});
  return response;
}

json::Value RefusalOf(const json::Value& question) {
  return json::Value::Object(
      {{"uid", question["uid"].ToString()},
       {"successful", false},
       {"status", json::Value::Object({{"code", 422}, {"message", "no team is named blue"}})}});
}

std::string Review(const json::Value& asked, json::Value response) {
  return json::Write(json::Value::Object({{"apiVersion", asked["apiVersion"].ToString()},
                                          {"kind", asked["kind"].ToString()},
                                          {"response", std::move(response)}}));
}

}  // namespace

Hooks::Hooks() {
  auto authority = tls::CertificateAuthority::Create("hooks");
  auto other = tls::CertificateAuthority::Create("others");
  REQUIRE((authority.ok() && other.ok()));
  auto pair = (*authority)->Issue({.common_name = "hook", .ip_addresses = {"127.0.0.1"}});
  REQUIRE(pair.ok());
  base::HttpServerOptions options;
  options.tls.emplace();
  options.tls->server = *std::move(pair);
  auto started = base::HttpServer::Start(
      std::move(options),
      [this](base::HttpRequest request, std::shared_ptr<base::HttpResponder> responder) {
        Handle(request, std::move(responder));
      });
  REQUIRE(started.ok());
  server_ = *std::move(started);
  url_ = absl::StrCat("https://127.0.0.1:", server_->port());
  ca_ = absl::Base64Escape((*authority)->cert_pem());
  other_ca_ = absl::Base64Escape((*other)->cert_pem());
}

Hooks::~Hooks() { server_->Stop(); }

void Hooks::Handle(const base::HttpRequest& request,
                   std::shared_ptr<base::HttpResponder> responder) {
  if (absl::EndsWith(request.path, "/silent")) {
    absl::MutexLock lock(&mu_);
    unanswered_.push_back(std::move(responder));
    return;
  }
  const json::Value asked = json::Parse(request.body).value_or(json::Value());
  base::HttpResponse response;
  if (absl::EndsWith(request.path, "/right")) {
    response.body = Review(asked, AnswerTo(asked["request"]));
  } else if (absl::EndsWith(request.path, "/refuses")) {
    response.body = Review(asked, RefusalOf(asked["request"]));
  } else if (absl::EndsWith(request.path, "/breaks")) {
    response.code = 500;
    response.body = "out of memory";
  } else {
    response.content_type = "text/html";
    response.body = "<html>sign in</html>";
  }
  responder->Send(std::move(response));
}

}  // namespace tests::advice
