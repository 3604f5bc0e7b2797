// Targets and contents of requests, repetitions, and how failures are reported.
#include "interpreter/webhook/hook_client.h"

#include <catch2/catch.hpp>
#include <string>
#include <thread>
#include <utility>

#include "absl/strings/str_cat.h"
#include "interpreter/webhook/failure.h"
#include "tests/interpreter/webhook/hooks.h"
#include "tests/interpreter/webhook/scripted_hooks.h"
#include "tests/support/fake_clock.h"

namespace {

using interpreter::webhook::ConnectionTo;
using interpreter::webhook::FailureReason;
using interpreter::webhook::Hook;
using interpreter::webhook::HookClient;
using interpreter::webhook::ReasonOf;
using interpreter::webhook::ServiceReference;
using tests::Json;
using tests::ScriptedHooks;

struct Fixture {
  tests::FakeClock clock;
  ScriptedHooks hooks{tests::Http(200, "yes")};
  base::StopSource stop;
  HookClient client{{.transport = hooks.Factory(), .stop = stop.get_token()}, clock};

  Hook hook = tests::WorkloadHook();
  absl::Status Error() { return client.Call(hook, "{}").status(); }
};

kube::ObjectPtr Service(const std::string& spec) {
  kube::Object service = kube::Object::Make({"", "v1", "Service"}, {"ns", "svc"});
  service.Set({"spec"}, Json(spec));
  return kube::Share(service);
}

}  // namespace

TEST_CASE_METHOD(Fixture, "a request looks as upstream's does") {
  hook.client.path = "/a/b";
  hook.timeout = absl::Milliseconds(2001);
  CHECK(client.Call(hook, "{}").value() == "yes");
  const kube::HttpRequest request = hooks.requests().at(0);
  CHECK(request.method == "POST");
  CHECK(request.path == "/a/b?timeout=3s");
  CHECK(request.accept == "application/json, */*");
  CHECK(request.content_type == "application/json");
  CHECK(request.user_agent == "kube-apiserver-admission");
  CHECK(request.body == "{}");
  CHECK(request.timeout == hook.timeout);
  CHECK(request.max_answer_bytes == 3 << 20);
}

TEST_CASE_METHOD(Fixture, "hooks with the same address, name and CA share connections") {
  Hook other = hook;
  other.uid = "other";
  other.client.path = "/elsewhere";
  Hook trusting = hook;
  trusting.client.ca_pem = "another";
  for (const Hook& one : {hook, other, hook, trusting}) REQUIRE(client.Call(one, "{}").ok());
  REQUIRE(hooks.connections().size() == 2);
  CHECK(hooks.connections()[0].server == "https://hook.example");
  CHECK(hooks.connections()[1].ca_pem == "another");
}

TEST_CASE_METHOD(Fixture, "of very many connections those used last are kept") {
  const auto call = [&](int i) {
    hook.client.server = absl::StrCat("https://h", i);
    REQUIRE(client.Call(hook, "{}").ok());
  };
  for (int i = 0; i < 200; ++i) call(i);
  call(0);
  call(200);  // Takes the place of 1.
  call(0);
  CHECK(hooks.connections().size() == 201);
  call(1);
  CHECK(hooks.connections().size() == 202);
}

TEST_CASE("a service is dialled at its address and must prove its name") {
  struct Case {
    kube::ObjectPtr service;
    const char* server;  // "": an error.
    const char* error = "";
  };
  const Case cases[] = {
      {Service(R"({"clusterIP":"10.0.0.1","ports":[{"port":8443}]})"), "https://10.0.0.1:8443"},
      {Service(R"({"type":"NodePort","clusterIP":"fd00::1","ports":[{"port":1},{"port":8443}]})"),
       "https://[fd00::1]:8443"},
      {Service(R"({"type":"ExternalName","externalName":"h.example"})"), "https://h.example:8443"},
      {nullptr, "https://svc.ns.svc:8443"},
      {Service(R"({"clusterIP":"10.0.0.1","ports":[{"port":1}]})"), "",
       R"(no service port 8443 found for service "svc")"},
      {Service(R"({"type":"ClusterIP","clusterIP":"None","ports":[{"port":8443}]})"), "",
       R"(cannot route to service with ClusterIP "None")"},
      {Service(R"({"type":"Odd"})"), "", R"(unsupported service type "Odd")"},
  };
  interpreter::webhook::ClientConfig client;
  client.service = ServiceReference{.ns = "ns", .name = "svc", .port = 8443};
  client.ca_pem = "ca";
  for (const Case& c : cases) {
    CAPTURE(c.server, c.error);
    const auto config = ConnectionTo(client, [&](const kube::ObjectKey& key) {
      CHECK(key == kube::ObjectKey{"ns", "svc"});
      return c.service;
    });
    CHECK(config.status().message() == c.error);
    if (!config.ok()) continue;
    CHECK(config->server == c.server);
    CHECK(config->tls_server_name == "svc.ns.svc");
    CHECK(config->ca_pem == "ca");
    CHECK(config->ignore_proxy_environment);
  }
}

TEST_CASE("a URL is taken as it is") {
  const auto config = ConnectionTo({.server = "https://h:1"}, nullptr);
  CHECK(config->server == "https://h:1");
  CHECK(config->tls_server_name.empty());
  CHECK_FALSE(config->ignore_proxy_environment);
}

TEST_CASE_METHOD(Fixture, "every kind of failure has its words and its reason") {
  struct Case {
    ScriptedHooks::Answer answer;
    std::string error;
    FailureReason reason;
  };
  const std::string failed = "failed to call webhook: ";
  const Case cases[] = {
      {tests::Http(500, " oops\n"),
       R"(an error on the server ("oops") has prevented the request from succeeding)",
       FailureReason::kServerError},
      {tests::Http(429, ""),
       "the server has received too many requests and has asked us to try again later",
       FailureReason::kServerError},
      {tests::Http(404, ""), "the server could not find the requested resource",
       FailureReason::kHttpStatus},
      {tests::Http(302, "", {{"location", "https://elsewhere"}}),
       "the server answered with code 302, and redirects are not followed",
       FailureReason::kHttpStatus},
      {tests::Http(207, "x"), R"(the server answered with code 207: "x")",
       FailureReason::kHttpStatus},
      {tests::Http(200, "", {{"content-type", "application/json"}}),
       "0-length response with status code: 200 and content type: application/json",
       FailureReason::kUnreadable},
      {tests::Failing(absl::UnavailableError("https://h: cannot connect")),
       "https://h: cannot connect", FailureReason::kConnection},
      {tests::Failing(absl::DeadlineExceededError("https://h: no answer in time")),
       "https://h: no answer in time (the webhook has 10s)", FailureReason::kTimeout},
      {tests::Failing(absl::ResourceExhaustedError("https://h: the answer is larger than 3 bytes")),
       "https://h: the answer is larger than 3 bytes", FailureReason::kUnreadable},
      {tests::Failing(absl::CancelledError("stopped")), "stopped", FailureReason::kStopped},
  };
  for (const Case& c : cases) {
    CAPTURE(c.error);
    hooks.Set(c.answer);
    const absl::Status error = Error();
    CHECK(error.message() == failed + c.error);
    CHECK(ReasonOf(error) == c.reason);
  }
}

TEST_CASE_METHOD(Fixture, "long or binary bodies of errors are quoted within limits") {
  hooks.Set(tests::Http(500, std::string(100000, 'x') + std::string("\0\n", 2)));
  CHECK(Error().message().size() < 400);
  hooks.Set(tests::Http(500, std::string("a\0\x80\nb", 5)));
  CHECK_THAT(std::string(Error().message()), Catch::Contains("a???b"));
}

TEST_CASE_METHOD(Fixture, "codes 200 to 206 are answers") {
  for (const int code : {200, 201, 202, 203, 204, 205, 206}) {
    hooks.Set(tests::Http(code, "yes"));
    CHECK(client.Call(hook, "{}").ok());
  }
}

TEST_CASE_METHOD(Fixture, "a service that cannot be routed to is reported without a call") {
  hook.client.service = ServiceReference{.ns = "ns", .name = "svc"};
  HookClient resolving{{.services = [](const auto&) { return Service(R"({"type":"Odd"})"); },
                        .transport = hooks.Factory()},
                       clock};
  const absl::Status error = resolving.Call(hook, "{}").status();
  CHECK(error.message() == R"(failed to call webhook: unsupported service type "Odd")");
  CHECK(ReasonOf(error) == FailureReason::kConfiguration);
  CHECK(hooks.connections().empty());
}

TEST_CASE_METHOD(Fixture, "a lookup that fails is neither a name for DNS nor the hook's fault") {
  hook.client.service = ServiceReference{.ns = "ns", .name = "svc"};
  HookClient resolving{{.services = [](const auto&) -> absl::StatusOr<kube::ObjectPtr> {
                          return absl::UnavailableError("not listed yet");
                        },
                        .transport = hooks.Factory()},
                       clock};
  const absl::Status error = resolving.Call(hook, "{}").status();
  CHECK(error.message() == "failed to call webhook: looking up service ns/svc: not listed yet");
  CHECK(ReasonOf(error) == FailureReason::kServiceLookup);
  CHECK(interpreter::webhook::HealthAfter(ReasonOf(error)) ==
        interpreter::webhook::HookHealth::kUnknown);
  CHECK(hooks.connections().empty());
}

TEST_CASE_METHOD(Fixture, "what comes before the connection takes of the hook's time") {
  hook.client.service = ServiceReference{.ns = "ns", .name = "svc"};
  HookClient resolving{{.services =
                            [&](const auto&) {
                              clock.Advance(absl::Seconds(4));
                              return kube::ObjectPtr();
                            },
                        .transport = hooks.Factory()},
                       clock};
  REQUIRE(resolving.Call(hook, "{}").ok());
  CHECK(hooks.requests().back().timeout == hook.timeout - absl::Seconds(4));
}

TEST_CASE_METHOD(Fixture, "a connection that cannot be made at all has upstream's words") {
  HookClient broken{
      {.transport =
           [](const kube::ConnectionConfig&) { return absl::InvalidArgumentError("bad CA"); }},
      clock};
  CHECK(broken.Call(hook, "{}").status().message() == "could not get REST client: bad CA");
}

TEST_CASE_METHOD(Fixture, "a busy server's Retry-After is followed within the hook's timeout") {
  auto counting = std::make_shared<int>(2);
  hooks.Set([counting](const kube::HttpRequest&) -> absl::StatusOr<kube::HttpResponse> {
    if ((*counting)-- > 0) {
      return kube::HttpResponse{.code = 429, .headers = {{"retry-after", "2"}}};
    }
    return kube::HttpResponse{.code = 200, .body = "at last"};
  });
  absl::StatusOr<std::string> answer;
  std::thread caller([&] { answer = client.Call(hook, "{}"); });
  for (int i = 0; i < 2; ++i) {
    clock.AwaitWaiters(1);
    const int64_t waits = clock.waits();
    clock.Advance(absl::Seconds(2));
    while (i == 0 && clock.waits() == waits) std::this_thread::yield();
  }
  caller.join();
  CHECK(answer.value() == "at last");
  REQUIRE(hooks.requests().size() == 3);
  CHECK(hooks.requests()[0].path == "/?timeout=10s");
  CHECK(hooks.requests()[2].path == "/?timeout=6s");
}

TEST_CASE_METHOD(Fixture, "a Retry-After that does not fit into the timeout is reported at once") {
  hooks.Set(tests::Http(503, "", {{"retry-after", "10"}}));
  CHECK(Error().message() ==
        "failed to call webhook: the server is currently unable to handle the request");
  CHECK(hooks.requests().size() == 1);
}

TEST_CASE_METHOD(Fixture, "a call is repeated ten times at most, and only when asked to") {
  hooks.Set(tests::Http(500, "", {{"retry-after", "0"}}));
  CHECK_FALSE(Error().ok());
  CHECK(hooks.requests().size() == 11);
  for (const char* header : {"-1", "Fri, 01 Jan 2027 00:00:00 GMT", ""}) {
    hooks.Set(tests::Http(500, "", {{"retry-after", header}}));
    CHECK_FALSE(Error().ok());
  }
  hooks.Set(tests::Http(404, "", {{"retry-after", "0"}}));
  CHECK_FALSE(Error().ok());
  hooks.Set(tests::Failing(absl::UnavailableError("broke")));
  CHECK_FALSE(Error().ok());
  CHECK(hooks.requests().size() == 16);
}

TEST_CASE_METHOD(Fixture, "a stop ends the wait for a repetition") {
  hooks.Set(tests::Http(503, "", {{"retry-after", "5"}}));
  absl::Status error;
  std::thread caller([&] { error = Error(); });
  clock.AwaitWaiters(1);
  stop.request_stop();
  caller.join();
  CHECK(ReasonOf(error) == FailureReason::kStopped);
  CHECK(absl::IsCancelled(error));
}
