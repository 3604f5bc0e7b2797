#include "kube/client/client.h"

#include <catch2/catch.hpp>
#include <memory>
#include <string>
#include <thread>
#include <vector>

#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "base/metrics.h"
#include "tests/kube/client/scripted_transport.h"
#include "tests/support/fake_clock.h"

namespace kube {
namespace {

using tests::Answer;
using tests::ScriptedTransport;

const Resource kDeployments = {{"apps", "v1", "Deployment"}, "deployments", true};
const Resource kPods = {{"", "v1", "Pod"}, "pods", true};
const Resource kClusters = {{"cluster.karmada.io", "v1alpha1", "Cluster"}, "clusters", false};

// A client of a server that answers from a function.
struct Fixture {
  explicit Fixture(ScriptedTransport::Handler handler, ClientOptions options = {})
      : transport(std::make_shared<ScriptedTransport>(std::move(handler))),
        client(transport, With(options), clock, &registry) {}
  static ClientOptions With(ClientOptions options) {
    options.host = "example:6443";
    return options;
  }

  // Runs `call` on a thread of its own, and advances the clock while that thread waits.
  template <class Call>
  auto Run(Call call) {
    decltype(call()) result = absl::UnknownError("not run");
    std::atomic<bool> done = false;
    std::thread thread([&] {
      result = call();
      done = true;
    });
    while (!done) {
      if (clock.waiters() == 0) {
        std::this_thread::yield();
        continue;
      }
      const absl::Duration step = absl::Milliseconds(500);
      clock.AdvanceAndAwait(step);
      slept += step;
    }
    thread.join();
    return result;
  }

  tests::FakeClock clock;
  metrics::Registry registry;
  std::shared_ptr<ScriptedTransport> transport;
  Client client;
  absl::Duration slept;
};

std::vector<std::string> Paths(const ScriptedTransport& transport) {
  std::vector<std::string> paths;
  for (const auto& request : transport.requests()) {
    paths.push_back(absl::StrCat(request.method, " ", request.path));
  }
  return paths;
}

HttpResponse Failure(int code, const std::string& reason, int retry_after = 0) {
  HttpResponse answer = Answer(
      code, absl::StrCat(R"({"kind":"Status","message":"said so","reason":")", reason, R"("})"));
  if (retry_after > 0) answer.headers["retry-after"] = absl::StrCat(retry_after);
  return answer;
}

Object Deployment() { return Object::Make(kDeployments.gvk, {"default", "web"}); }

}  // namespace

TEST_CASE("Each call has the API's method, path and content type") {
  Fixture f([](const HttpRequest&, int) { return Answer(200); }, {.user_agent = "program/1.0"});
  const json::Value patch = json::Value::Object();
  CHECK(f.client.Get(kPods, {"a", "b"}, {}).ok());
  CHECK(f.client.Get(kClusters, {"", "m1"}, {}).ok());
  CHECK(f.client.Create(kDeployments, Deployment(), {.dry_run = true}, {}).ok());
  CHECK(
      f.client
          .Patch(kDeployments, {"a", "b"}, PatchType::kMerge, patch, {.subresource = "status"}, {})
          .ok());
  CHECK(f.client.Patch(kPods, {"a", "b"}, PatchType::kApply, patch, {.field_manager = "me"}, {})
            .ok());
  CHECK(f.client.Replace(kDeployments, Deployment(), {}, {}).ok());
  CHECK(f.client.Delete(kPods, {"a", "b"}, {.propagation = "Background", .uid = "u"}, {}).ok());
  CHECK(
      f.client.List(kPods, "", {.label_selector = "a in (b,c)", .resource_version = "0"}, {}).ok());
  CHECK(f.client.GetRaw("/version", {}).ok());

  CHECK(Paths(*f.transport) ==
        std::vector<std::string>{
            "GET /api/v1/namespaces/a/pods/b",
            "GET /apis/cluster.karmada.io/v1alpha1/clusters/m1",
            "POST /apis/apps/v1/namespaces/default/deployments?dryRun=All",
            "PATCH /apis/apps/v1/namespaces/a/deployments/b/status",
            "PATCH /api/v1/namespaces/a/pods/b?fieldManager=me",
            "PUT /apis/apps/v1/namespaces/default/deployments/web",
            "DELETE /api/v1/namespaces/a/pods/b",
            "GET /api/v1/pods?labelSelector=a%20in%20%28b%2Cc%29&limit=500&resourceVersion=0",
            "GET /version",
        });
  const auto requests = f.transport->requests();
  CHECK(requests[2].content_type == "application/json");
  CHECK(requests[3].content_type == "application/merge-patch+json");
  CHECK(requests[4].content_type == "application/apply-patch+yaml");
  CHECK(
      requests[6].body ==
      R"({"apiVersion":"v1","kind":"DeleteOptions","preconditions":{"uid":"u"},"propagationPolicy":"Background"})");
  CHECK(requests[0].user_agent == "program/1.0");
}

TEST_CASE("Unusual legal names are escaped, and names that would change the path are refused") {
  Fixture f([](const HttpRequest&, int) { return Answer(200); });
  CHECK(f.client.Get(kPods, {"a", "system:x%y z"}, {}).ok());
  CHECK(Paths(*f.transport).back() == "GET /api/v1/namespaces/a/pods/system:x%25y%20z");
  for (const ObjectKey& key : {ObjectKey{"a", ""}, ObjectKey{"", "b"}, ObjectKey{"a", ".."},
                               ObjectKey{"a", "b/c"}, ObjectKey{"..", "b"}}) {
    CAPTURE(key.ToString());
    CHECK(absl::IsInvalidArgument(f.client.Get(kPods, key, {}).status()));
    CHECK(absl::IsInvalidArgument(f.client.Delete(kPods, key, {}, {}).status()));
  }
  for (const char* ns : {"", ".", "..", "a/b", "../../nodes"}) {
    CAPTURE(ns);
    const absl::Status refused =
        f.client.Create(kPods, Object::Make(kPods.gvk, {ns, "b"}), {}, {}).status();
    CHECK(absl::IsInvalidArgument(refused));
    CHECK(absl::StartsWith(refused.message(), absl::StrCat("create Pod ", ns)));
    if (*ns == '\0') continue;  // Lists all namespaces.
    CHECK(absl::IsInvalidArgument(f.client.List(kPods, ns, {}, {}).status()));
    CHECK(absl::IsInvalidArgument(f.client.ListAll(kPods, ns, {}, {}).status()));
  }
  CHECK(f.transport->requests().size() == 1);
}

TEST_CASE("Errors name verb, object and what the server said") {
  Fixture f([](const HttpRequest&, int) { return Failure(403, "Forbidden"); });
  const absl::Status error =
      f.client.Patch(kDeployments, {"a", "b"}, PatchType::kMerge, {}, {.subresource = "status"}, {})
          .status();
  CHECK(absl::IsPermissionDenied(error));
  CHECK(error.message() == "patch Deployment a/b (status): said so");
  CHECK(FailureOf(error).reason == "Forbidden");
  CHECK(f.client.List(kDeployments, "a", {}, {}).status().message() ==
        "list deployments.apps in a: said so");
}

TEST_CASE("An answer that is not an object is an error that names the call") {
  for (const char* body : {"", "[]", "{", "null"}) {
    Fixture f([&](const HttpRequest&, int) { return Answer(200, body); });
    CAPTURE(body);
    const absl::Status error = f.client.Get(kPods, {"a", "b"}, {}).status();
    CHECK(absl::IsInternal(error));
    CHECK(absl::StartsWith(error.message(), "get Pod a/b: unreadable answer"));
  }
}

TEST_CASE("An answer that the caller does not want is not read") {
  Fixture f([](const HttpRequest&, int) { return Answer(201, "no JSON"); });
  const Object pod = Object::Make(kPods.gvk, {"ns", "a"});
  const auto created = f.client.Create(kPods, pod, {.wants_answer = false}, {});
  REQUIRE(created.ok());
  CHECK(created->empty());
  const auto patched = f.client.Patch(kPods, pod.key(), PatchType::kMerge, json::Value::Object(),
                                      {.wants_answer = false}, {});
  REQUIRE(patched.ok());
  CHECK(patched->empty());
  CHECK_FALSE(f.client.Create(kPods, pod, {}, {}).ok());
}

TEST_CASE("Refused calls are sent again after Retry-After, whatever their method") {
  for (const int code : {429, 503}) {
    CAPTURE(code);
    Fixture f([&](const HttpRequest&, int attempt) {
      return attempt < 2 ? Failure(code, "", /*retry_after=*/3) : Answer(201);
    });
    CHECK(f.Run([&] { return f.client.Create(kDeployments, Deployment(), {}, {}); }).ok());
    CHECK(f.transport->requests().size() == 3);
    CHECK(f.slept >= absl::Seconds(6));
    CHECK(f.slept < absl::Seconds(8));
  }
}

TEST_CASE("A Retry-After beyond the deadline is returned at once") {
  Fixture f([](const HttpRequest&, int) { return Failure(429, "TooManyRequests", 60); });
  const absl::Status error = f.client.Get(kPods, {"a", "b"}, {}).status();
  CHECK(absl::IsUnavailable(error));
  CHECK(FailureOf(error).retry_after_seconds == 60);
  CHECK(f.transport->requests().size() == 1);
}

TEST_CASE(
    "Reads are tried again after other server errors and broken connections, writes are not") {
  const ScriptedTransport::Handler kHandlers[] = {
      [](const HttpRequest&, int attempt) { return attempt < 2 ? Failure(500, "") : Answer(200); },
      [](const HttpRequest&, int attempt) -> absl::StatusOr<HttpResponse> {
        if (attempt < 2) return absl::UnavailableError("the connection broke");
        return Answer(200);
      },
  };
  for (const auto& handler : kHandlers) {
    Fixture reads(handler);
    CHECK(reads.Run([&] { return reads.client.Get(kPods, {"a", "b"}, {}); }).ok());
    CHECK(reads.transport->requests().size() == 3);
    Fixture writes(handler);
    const auto created = writes.client.Create(kDeployments, Deployment(), {}, {});
    CHECK(absl::IsUnavailable(created.status()));
    CHECK(writes.transport->requests().size() == 1);
  }
}

TEST_CASE("Writes that never reached the server are sent again") {
  Fixture f([](const HttpRequest&, int attempt) -> absl::StatusOr<HttpResponse> {
    if (attempt == 0) return NotProcessed(absl::UnavailableError("cannot connect"));
    return Answer(201);
  });
  CHECK(f.Run([&] { return f.client.Create(kDeployments, Deployment(), {}, {}); }).ok());
  CHECK(f.transport->requests().size() == 2);
}

TEST_CASE("A server that stays down is given up after a few tries") {
  Fixture f([](const HttpRequest&, int) -> absl::StatusOr<HttpResponse> {
    return NotProcessed(absl::UnavailableError("cannot connect"));
  });
  CHECK(absl::IsUnavailable(f.Run([&] { return f.client.Get(kPods, {"a", "b"}, {}); }).status()));
  CHECK(f.transport->requests().size() == 6);
  CHECK(f.slept < absl::Seconds(5));
}

TEST_CASE("A stop ends the wait for another try") {
  Fixture f([](const HttpRequest&, int) { return Failure(429, "", 10); });
  base::StopSource stop;
  absl::Status error;
  std::thread thread([&] { error = f.client.Get(kPods, {"a", "b"}, stop.get_token()).status(); });
  f.clock.AwaitWaiters(1);
  stop.request_stop();
  thread.join();
  CHECK(absl::IsCancelled(error));
}

TEST_CASE("Every attempt is counted by code, method and host") {
  Fixture f([](const HttpRequest&, int attempt) -> absl::StatusOr<HttpResponse> {
    if (attempt == 0) return absl::UnavailableError("broke");
    return attempt == 1 ? Failure(500, "") : Answer(200);
  });
  CHECK(f.Run([&] { return f.client.Get(kPods, {"a", "b"}, {}); }).ok());
  for (const char* code : {"<error>", "500", "200"}) {
    CAPTURE(code);
    CHECK(f.registry
              .GetCounter("rest_client_requests_total", "",
                          {{"code", code}, {"method", "GET"}, {"host", "example:6443"}})
              .Value() == 1);
  }
}

TEST_CASE("Objects come without managedFields, items of lists with apiVersion and kind") {
  Fixture f([](const HttpRequest& request, int) {
    if (absl::StrContains(request.path, "/b")) {
      return Answer(200, R"({"kind":"Pod","apiVersion":"v1",
                             "metadata":{"name":"b","managedFields":[{"x":1}]}})");
    }
    return Answer(200, R"({"metadata":{"resourceVersion":"7"},
                           "items":[{"metadata":{"name":"b","managedFields":[]}},{"metadata":{}}]})");
  });
  const auto object = f.client.Get(kPods, {"a", "b"}, {});
  REQUIRE(object.ok());
  CHECK(json::Write(object->root()) ==
        R"({"apiVersion":"v1","kind":"Pod","metadata":{"name":"b"}})");
  const auto page = f.client.List(kDeployments, "", {}, {});
  REQUIRE(page.ok());
  CHECK(page->resource_version == "7");
  REQUIRE(page->items.size() == 2);
  CHECK(json::Write(page->items[0].root()) ==
        R"({"apiVersion":"apps/v1","kind":"Deployment","metadata":{"name":"b"}})");
}

TEST_CASE("ListAll follows the pages and starts over once when the token expires half-way") {
  auto page = [](int from, const std::string& next) {
    return Answer(200, absl::StrCat(R"({"metadata":{"resourceVersion":"9","continue":")", next,
                                    R"("},"items":[{"metadata":{"name":"p)", from, R"("}}]})"));
  };
  SECTION("pages") {
    Fixture f(
        [&](const HttpRequest&, int attempt) { return page(attempt, attempt < 2 ? "c d" : ""); });
    const auto all = f.client.ListAll(kPods, "", {.resource_version = "5"}, {});
    REQUIRE(all.ok());
    REQUIRE(all->items.size() == 3);
    CHECK(all->items[2].name() == "p2");
    CHECK(Paths(*f.transport) == std::vector<std::string>{
                                     "GET /api/v1/pods?limit=500&resourceVersion=5",
                                     "GET /api/v1/pods?limit=500&continue=c%20d",
                                     "GET /api/v1/pods?limit=500&continue=c%20d",
                                 });
  }
  SECTION("too large") {
    Fixture f([&](const HttpRequest& request, int attempt) -> absl::StatusOr<HttpResponse> {
      if (absl::StrContains(request.path, "limit=500") && attempt > 0) {
        return absl::ResourceExhaustedError("the answer is larger than 64 bytes");
      }
      return page(attempt, attempt < 3 ? "c" : "");
    });
    const auto all = f.client.ListAll(kPods, "", {}, {});
    REQUIRE(all.ok());
    CHECK(all->items.size() == 3);
    CHECK(Paths(*f.transport) == std::vector<std::string>{
                                     "GET /api/v1/pods?limit=500",
                                     "GET /api/v1/pods?limit=500&continue=c",
                                     "GET /api/v1/pods?limit=250&continue=c",
                                     "GET /api/v1/pods?limit=250&continue=c",
                                 });
  }
  SECTION("one item is too large") {
    Fixture f([&](const HttpRequest&, int) -> absl::StatusOr<HttpResponse> {
      return absl::ResourceExhaustedError("the answer is larger than 64 bytes");
    });
    CHECK(absl::IsResourceExhausted(f.client.ListAll(kPods, "", {}, {}).status()));
    CHECK(f.transport->requests().size() == 9);
  }
  SECTION("expired once") {
    Fixture f([&](const HttpRequest&, int attempt) {
      return attempt == 1 ? Failure(410, "Expired") : page(attempt, attempt == 0 ? "c" : "");
    });
    const auto all = f.client.ListAll(kPods, "", {}, {});
    REQUIRE(all.ok());
    REQUIRE(all->items.size() == 1);
    CHECK(all->items[0].name() == "p2");
  }
  SECTION("expired for ever") {
    Fixture f([&](const HttpRequest& request, int attempt) {
      return absl::StrContains(request.path, "continue") ? Failure(410, "Expired")
                                                         : page(attempt, "c");
    });
    CHECK(absl::IsOutOfRange(f.client.ListAll(kPods, "", {}, {}).status()));
    CHECK(f.transport->requests().size() == 4);
  }
}

TEST_CASE("Delete gives the object back only while finalizers hold it") {
  Fixture f([](const HttpRequest&, int attempt) {
    if (attempt == 0) return Answer(200, R"({"kind":"Status","status":"Success"})");
    if (attempt == 1) return Answer(200, R"({"kind":"Pod","metadata":{"name":"b"}})");
    return Answer(200, R"({"kind":"Pod","metadata":{"name":"b","deletionTimestamp":"t"}})");
  });
  auto remove = [&] { return f.client.Delete(kPods, {"a", "b"}, {}, {}); };
  CHECK(remove()->empty());
  CHECK(remove()->empty());
  CHECK(remove()->name() == "b");
}

TEST_CASE("A raw GET hands over any code but still waits out a 429") {
  Fixture f([](const HttpRequest&, int attempt) {
    return attempt == 0 ? Failure(429, "", 1) : Failure(500, "");
  });
  const auto answer = f.Run([&] { return f.client.GetRaw("/readyz", {}); });
  REQUIRE(answer.ok());
  CHECK(answer->code == 500);
  CHECK(f.transport->requests().size() == 2);
}

TEST_CASE("A raw GET may have a shorter deadline than the client") {
  Fixture f([](const HttpRequest&, int) { return Answer(200); });
  REQUIRE(f.client.GetRaw("/readyz", absl::Seconds(5), {}).ok());
  REQUIRE(f.client.GetRaw("/readyz", absl::Minutes(5), {}).ok());
  CHECK(f.transport->requests().at(0).timeout == absl::Seconds(5));
  CHECK(f.transport->requests().at(1).timeout == kube::ClientOptions().timeout);
}

TEST_CASE("A fixed rate limit refuses what cannot be sent before the deadline") {
  Fixture f([](const HttpRequest&, int) { return Answer(200); },
            {.qps = 0.01, .burst = 1, .timeout = absl::Seconds(5)});
  CHECK(f.client.Get(kPods, {"a", "b"}, {}).ok());
  CHECK(absl::IsDeadlineExceeded(f.client.Get(kPods, {"a", "b"}, {}).status()));
}

TEST_CASE("A list that is not paced waits for no fixed rate, and takes nothing of it") {
  Fixture f([](const HttpRequest&, int) { return Answer(200, R"({"items":[]})"); },
            {.qps = 0.01, .burst = 1, .timeout = absl::Seconds(5)});
  for (int i = 0; i < 3; ++i) CHECK(f.client.List(kPods, "a", {.paced = false}, {}).ok());
  CHECK(f.client.List(kPods, "a", {}, {}).ok());
  CHECK(absl::IsDeadlineExceeded(f.client.List(kPods, "a", {}, {}).status()));
  CHECK(f.client.List(kPods, "a", {.paced = false}, {}).ok());
}

}  // namespace kube
