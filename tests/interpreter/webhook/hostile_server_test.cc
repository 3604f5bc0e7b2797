// Hooks that misbehave on real TLS sockets: each call ends in time, in little memory, and with an
// error that describes what happened; the hook's next good answer is accepted.
#include <atomic>
#include <catch2/catch.hpp>
#include <functional>
#include <memory>
#include <string>
#include <utility>

#include "absl/strings/escaping.h"
#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_replace.h"
#include "absl/time/clock.h"
#include "base/http_server.h"
#include "interpreter/webhook/failure.h"
#include "interpreter/webhook/webhook_backend.h"
#include "tests/interpreter/webhook/hooks.h"
#include "tests/interpreter/webhook/tls_server.h"
#include "tests/support/eventually.h"

namespace {

using interpreter::webhook::FailureReason;
using interpreter::webhook::Hook;
using interpreter::webhook::ReasonOf;
using interpreter::webhook::ServiceReference;
using interpreter::webhook::WebhookBackend;
using tests::Json;
using tests::SetOf;
using tests::TlsPeer;
using tests::TlsServer;
using tests::Workload;
using tests::WorkloadHook;

std::unique_ptr<tls::CertificateAuthority> NewAuthority() {
  tls::DisableSystemBundlePerConnection();
  return std::move(tls::CertificateAuthority::Create("hooks").value());
}

tls::KeyPair Issue(tls::CertificateAuthority& authority, const std::string& dns_name = "") {
  tls::CertificateAuthority::LeafOptions leaf = {.common_name = "hook"};
  if (dns_name.empty()) {
    leaf.ip_addresses = {"127.0.0.1"};
  } else {
    leaf.dns_names = {dns_name};
  }
  return authority.Issue(leaf).value();
}

Hook HookOn(int port, const tls::CertificateAuthority& authority) {
  Hook hook = WorkloadHook();
  hook.client.server = absl::StrCat("https://127.0.0.1:", port);
  hook.client.ca_pem = authority.cert_pem();
  hook.timeout = absl::Seconds(5);
  return hook;
}

std::string HttpAnswer(absl::string_view body) {
  return absl::StrCat("HTTP/1.1 200 OK\r\nContent-Type: application/json\r\nContent-Length: ",
                      body.size(), "\r\n\r\n", body);
}

// Returns an answer that calls the object healthy.
std::string Healthy(const std::string& request) {
  const json::Value message = Json(request.substr(request.find("\r\n\r\n") + 4));
  return json::Write(json::Value::Object(
      {{"response", json::Value::Object({{"uid", message.Get({"request", "uid"})},
                                         {"successful", true},
                                         {"healthy", true}})}}));
}

void AnswerAll(TlsPeer& peer) {
  for (std::string request = peer.ReadRequest(); !request.empty(); request = peer.ReadRequest()) {
    peer.Write(HttpAnswer(Healthy(request)));
  }
}

// Calls a server that misbehaves once, and then the same server when it behaves again.
struct Hostile {
  std::unique_ptr<tls::CertificateAuthority> authority = NewAuthority();
  WebhookBackend backend{{}};
  absl::Duration timeout = absl::Seconds(5);
  absl::Duration took;

  absl::Status ErrorOf(TlsServer::Script misbehave) {
    std::atomic<bool> behaves = false;
    TlsServer server(Issue(*authority), [&](TlsPeer& peer) {
      if (behaves) return AnswerAll(peer);
      if (!peer.ReadRequest().empty()) misbehave(peer);
    });
    Hook hook = HookOn(server.port(), *authority);
    hook.timeout = timeout;
    backend.Replace(SetOf({hook}));
    const absl::Time began = absl::Now();
    const absl::Status error = backend.InterpretHealth(Workload()).status();
    took = absl::Now() - began;
    behaves = true;  // Even if a short timeout was over before the server had heard of the call.
    hook.timeout = absl::Seconds(5);
    backend.Replace(SetOf({hook}));
    CHECK(backend.InterpretHealth(Workload()).value());
    return error;
  }
  absl::Status ErrorOfAnswer(const std::string& bytes) {
    return ErrorOf([&](TlsPeer& peer) { peer.Write(bytes); });
  }
};

void CheckError(const absl::Status& error, FailureReason reason, const std::string& text) {
  CHECK_THAT(std::string(error.message()),
             Catch::StartsWith(R"(Internal error occurred: failed calling webhook "c/w": )") &&
                 Catch::Contains(text));
  CHECK(FailureReasonName(ReasonOf(error)) == FailureReasonName(reason));
}

}  // namespace

TEST_CASE_METHOD(Hostile, "a hook that hangs costs its timeout and no more") {
  timeout = absl::Milliseconds(200);
  CheckError(ErrorOf([](TlsPeer& peer) { peer.AwaitEnd(); }), FailureReason::kTimeout,
             "no answer in time (the webhook has 200ms)");
  CHECK(took >= timeout);
  CHECK(took < absl::Seconds(30));
}

TEST_CASE_METHOD(Hostile,
                 "a hook that drips its answer byte by byte costs its timeout and no more") {
  timeout = absl::Milliseconds(200);
  const std::string answer = HttpAnswer(std::string(100000, ' '));
  const auto drip = [&](TlsPeer& peer) {
    for (const char c : answer) {
      absl::SleepFor(absl::Milliseconds(1));
      if (!peer.Write(std::string(1, c))) return;
    }
  };
  CheckError(ErrorOf(drip), FailureReason::kTimeout, "no answer in time");
  CHECK(took < absl::Seconds(30));
}

TEST_CASE_METHOD(Hostile, "an endless answer is refused at 3 MB") {
  std::atomic<int64_t> written = 0;
  const std::string block(64 << 10, 'x');
  const auto flood = [&](TlsPeer& peer) {
    peer.Write("HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n");
    while (peer.Write(absl::StrCat("10000\r\n", block, "\r\n"))) written += 64 << 10;
  };
  CheckError(ErrorOf(flood), FailureReason::kUnreadable, "the answer is larger than 3145728 bytes");
  // The connection was closed; otherwise the server would have written for ever.
  CHECK(written < 64 << 20);
}

TEST_CASE_METHOD(Hostile, "an endless head of an answer is cut off") {
  std::atomic<int64_t> written = 0;
  const std::string header = absl::StrCat("X-More: ", std::string(8000, 'x'), "\r\n");
  const auto flood = [&](TlsPeer& peer) {
    peer.Write("HTTP/1.1 200 OK\r\n");
    while (peer.Write(header)) written += static_cast<int64_t>(header.size());
  };
  CheckError(ErrorOf(flood), FailureReason::kConnection,
             "the connection broke before an answer came");
  CHECK(took < timeout);
  // The limit is lower, but sockets have buffers, too.
  CHECK(written < 32 << 20);
}

TEST_CASE_METHOD(Hostile, "an answer of 10 MB is refused, and one of just under 3 MB is not") {
  CheckError(ErrorOfAnswer(HttpAnswer(std::string(10 << 20, ' '))), FailureReason::kUnreadable,
             "the answer is larger than 3145728 bytes");
  const auto large = [&](TlsPeer& peer) {
    peer.Write(HttpAnswer(std::string((3 << 20) - 1, ' ')));
  };
  CheckError(ErrorOf(large), FailureReason::kUnreadable, "the body is not JSON");
}

TEST_CASE_METHOD(Hostile, "garbage instead of HTTP or JSON is reported as such") {
  CheckError(ErrorOfAnswer("\x01\x02\x03 garbage\r\n\r\n"), FailureReason::kConnection,
             "the server does not speak HTTP");
  CheckError(ErrorOfAnswer(HttpAnswer("{\"response\":")), FailureReason::kUnreadable,
             "the body is not JSON");
  CheckError(ErrorOfAnswer(HttpAnswer("<html>")), FailureReason::kUnreadable,
             "the body is not JSON");
  CheckError(ErrorOfAnswer(HttpAnswer(std::string(100000, '['))), FailureReason::kUnreadable,
             "the body is not JSON");
  CheckError(ErrorOfAnswer(HttpAnswer("")), FailureReason::kUnreadable,
             "0-length response with status code: 200");
}

TEST_CASE_METHOD(Hostile, "a hook that dies half-way is reported as a broken connection") {
  CheckError(ErrorOf([](TlsPeer&) {}), FailureReason::kConnection,
             "the connection broke before an answer came");
  CheckError(ErrorOfAnswer("HTTP/1.1 200 OK\r\nContent-Length: 100\r\n\r\n{\"resp"),
             FailureReason::kConnection, "the connection broke inside the answer");
  CheckError(ErrorOfAnswer("HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n64\r\n{\"resp"),
             FailureReason::kConnection, "the connection broke inside the answer");
}

TEST_CASE_METHOD(Hostile, "the answer to another question is refused") {
  CheckError(ErrorOfAnswer(
                 HttpAnswer(R"({"response":{"uid":"another","successful":true,"healthy":true}})")),
             FailureReason::kInvalidResponse, R"(", got "another")");
}

TEST_CASE_METHOD(Hostile, "a redirect is not followed") {
  TlsServer elsewhere(Issue(*authority), [](TlsPeer& peer) { AnswerAll(peer); });
  CheckError(
      ErrorOfAnswer(absl::StrCat("HTTP/1.1 307 Temporary Redirect\r\nLocation: https://127.0.0.1:",
                                 elsewhere.port(), "/\r\nContent-Length: 0\r\n\r\n")),
      FailureReason::kHttpStatus,
      "the server answered with code 307, and redirects are not followed");
  CHECK(elsewhere.served() == 0);
}

TEST_CASE_METHOD(Hostile, "an error of the server is reported with its words") {
  CheckError(ErrorOfAnswer("HTTP/1.1 500 No\r\nContent-Length: 4\r\n\r\noops"),
             FailureReason::kServerError, R"(an error on the server ("oops") has prevented)");
}

TEST_CASE_METHOD(Hostile, "a patch that does not fit changes nothing") {
  const auto patch = [](TlsPeer& peer) {
    std::string answer = Healthy(peer.ReadRequest());
    answer = absl::StrReplaceAll(
        answer,
        {{R"("healthy":true)",
          absl::StrCat(R"("patchType":"JSONPatch","patch":")",
                       absl::Base64Escape(R"([{"op":"remove","path":"/no/such"}])"), "\"")}});
    peer.Write(HttpAnswer(answer));
  };
  TlsServer server(Issue(*authority), patch);
  backend.Replace(SetOf({HookOn(server.port(), *authority)}));
  const kube::Object object = Workload();
  const absl::Status error = backend.Retain(object, Workload(5)).status();
  CHECK(ReasonOf(error) == FailureReason::kPatch);
  CHECK_THAT(std::string(error.message()),
             Catch::StartsWith(R"(webhook "c/w": remove operation does not apply)"));
  CHECK(object == Workload());
}

TEST_CASE_METHOD(Hostile, "a server that is not there is reported at once") {
  int port = 0;
  { port = TlsServer(Issue(*authority), &AnswerAll).port(); }
  backend.Replace(SetOf({HookOn(port, *authority)}));
  CheckError(backend.InterpretHealth(Workload()).status(), FailureReason::kConnection,
             "cannot connect");
}

TEST_CASE_METHOD(Hostile, "a server with a certificate of somebody else never sees the question") {
  bool asked = false;
  const auto other = NewAuthority();
  TlsServer server(Issue(*other), [&](TlsPeer& peer) { asked = !peer.ReadRequest().empty(); });
  backend.Replace(SetOf({HookOn(server.port(), *authority)}));
  CheckError(backend.InterpretHealth(Workload()).status(), FailureReason::kConnection,
             "the server's certificate is refused: ");
  REQUIRE(tests::Eventually([&] { return server.served() == 1; }));
  CHECK_FALSE(asked);
}

TEST_CASE_METHOD(Hostile, "a service must show a certificate for its own name") {
  WebhookBackend resolving{
      {.client = {.services = [](const kube::ObjectKey&) {
         kube::Object service = kube::Object::Make({"", "v1", "Service"}, {"ns", "svc"});
         // Any port of the Service leads to this machine.
         service.Set({"spec"}, Json(R"({"type":"ExternalName","externalName":"127.0.0.1"})"));
         return kube::Share(service);
       }}}};
  const auto ask = [&](const std::string& name) {
    TlsServer server(Issue(*authority, name), &AnswerAll);
    Hook hook = HookOn(server.port(), *authority);
    hook.client.service = ServiceReference{.ns = "ns", .name = "svc", .port = server.port()};
    resolving.Replace(SetOf({hook}));
    return resolving.InterpretHealth(Workload());
  };
  CHECK(ask("svc.ns.svc").value());
  CheckError(ask("other.ns.svc").status(), FailureReason::kConnection,
             "it is not valid for this host name");
}

TEST_CASE_METHOD(Hostile, "connections are kept from call to call") {
  std::atomic<int> requests = 0;
  TlsServer server(Issue(*authority), [&](TlsPeer& peer) {
    for (std::string r = peer.ReadRequest(); !r.empty(); r = peer.ReadRequest()) {
      ++requests;
      peer.Write(HttpAnswer(Healthy(r) + std::string(2 << 20, ' ')));
    }
  });
  backend.Replace(SetOf({HookOn(server.port(), *authority)}));
  // Together the answers exceed the limit for one answer, which counts for each alone.
  for (int i = 0; i < 5; ++i) CHECK(backend.InterpretHealth(Workload()).value());
  CHECK(requests == 5);
  CHECK(server.served() == 0);  // The first connection is still open.
}

TEST_CASE_METHOD(Hostile,
                 "a server may change its certificate, and its authority with the configuration") {
  const auto serve = [](base::HttpRequest request, std::shared_ptr<base::HttpResponder> responder) {
    responder->Send({.body = Healthy("\r\n\r\n" + request.body)});
  };
  const auto start = [&](tls::CertificateAuthority& by, int port) {
    return base::HttpServer::Start({.address = absl::StrCat("127.0.0.1:", port),
                                    .tls = tls::ServerOptions{.server = Issue(by)}},
                                   serve)
        .value();
  };
  auto server = start(*authority, 0);
  const int port = server->port();
  backend.Replace(SetOf({HookOn(port, *authority)}));
  CHECK(backend.InterpretHealth(Workload()).value());

  server.reset();
  server = start(*authority, port);
  CHECK(backend.InterpretHealth(Workload()).value());

  server.reset();
  const auto next = NewAuthority();
  server = start(*next, port);
  CheckError(backend.InterpretHealth(Workload()).status(), FailureReason::kConnection,
             "the server's certificate is refused: ");
  backend.Replace(SetOf({HookOn(port, *next)}));
  CHECK(backend.InterpretHealth(Workload()).value());
}

TEST_CASE_METHOD(Hostile, "calls under way end when the program stops") {
  base::StopSource stop;
  WebhookBackend stopping{{.client = {.stop = stop.get_token()}}};
  TlsServer server(Issue(*authority), [&](TlsPeer& peer) {
    if (peer.ReadRequest().empty()) return;
    stop.request_stop();
    peer.AwaitEnd();
  });
  stopping.Replace(SetOf({HookOn(server.port(), *authority)}));
  const absl::Time began = absl::Now();
  const absl::Status error = stopping.InterpretHealth(Workload()).status();
  CHECK(absl::IsCancelled(error));
  CHECK(ReasonOf(error) == FailureReason::kStopped);
  CHECK(absl::Now() - began < absl::Seconds(30));
}
