#include "kube/aggregation/health.h"

#include <catch2/catch.hpp>
#include <memory>
#include <string>

#include "kube/aggregation/endpoints.h"

namespace kube::aggregation {
namespace {

struct Fixture {
  HealthEndpoints health;
  absl::Status etcd;
  absl::Status synced = absl::UnavailableError("secret detail");

  Fixture() {
    health.Add("etcd", HealthEndpoints::Scope::kAll, [this] { return etcd; });
    health.Add("informer-sync", HealthEndpoints::Scope::kReadiness, [this] { return synced; });
  }
  base::HttpResponse Ask(const std::string& path,
                         std::vector<std::pair<std::string, std::string>> query = {}) {
    base::HttpRequest request;
    request.method = "GET";
    request.path = path;
    request.query = std::move(query);
    return health.Answer(request);
  }
  std::string Text(const std::string& path,
                   std::vector<std::pair<std::string, std::string>> query = {}) {
    return Ask(path, std::move(query)).body;
  }
};

TEST_CASE("the answers have upstream's format") {
  Fixture f;
  CHECK(f.Ask("/livez").code == 200);
  CHECK(f.Text("/livez") == "ok");
  CHECK(f.Text("/healthz", {{"verbose", ""}}) == "[+]ping ok\n[+]etcd ok\nhealthz check passed\n");
  CHECK(f.Ask("/readyz").code == 500);
  CHECK(f.Text("/readyz") ==
        "[+]ping ok\n[+]etcd ok\n[-]informer-sync failed: reason withheld\n[+]shutdown ok\n"
        "readyz check failed\n");
  f.synced = absl::OkStatus();
  CHECK(f.Text("/readyz") == "ok");
}

TEST_CASE("checks can be left out and asked one by one") {
  Fixture f;
  CHECK(f.Text("/readyz", {{"exclude", "informer-sync"}}) == "ok");
  CHECK(f.Text("/readyz", {{"exclude", "informer-sync"}, {"verbose", ""}, {"exclude", "nope"}}) ==
        "[+]ping ok\n[+]etcd ok\n[+]informer-sync excluded: ok\n[+]shutdown ok\n"
        "warn: some health checks cannot be excluded: no matches for \"nope\"\n"
        "readyz check passed\n");
  CHECK(f.Text("/livez/ping") == "ok");
  CHECK(f.Ask("/readyz/informer-sync").code == 500);
  CHECK(f.Text("/readyz/informer-sync") == "internal server error: secret detail\n");
  CHECK(f.Ask("/livez/informer-sync").code == 404);
  CHECK(f.Ask("/livezz").code == 404);
}

TEST_CASE("a process that ends is alive and not ready") {
  Fixture f;
  f.synced = absl::OkStatus();
  f.health.BeginShutdown();
  CHECK(f.Text("/livez") == "ok");
  CHECK(f.Text("/readyz") ==
        "[+]ping ok\n[+]etcd ok\n[+]informer-sync ok\n[-]shutdown failed: reason withheld\n"
        "readyz check failed\n");
  CHECK(f.Text("/readyz/shutdown") == "internal server error: process is shutting down\n");
}

TEST_CASE("which paths are health checks") {
  CHECK(HealthEndpoints::Serves("/livez"));
  CHECK(HealthEndpoints::Serves("/readyz/etcd"));
  CHECK_FALSE(HealthEndpoints::Serves("/livezz"));
  CHECK_FALSE(HealthEndpoints::Serves("/api/livez"));
  CHECK_FALSE(HealthEndpoints::Serves("/"));
}

// Answers every request with "next".
class Next : public ApiHandler {
 public:
  void Handle(ApiRequest, std::shared_ptr<base::HttpResponder> responder) override {
    responder->Send({.body = "next"});
  }
};

class Recorder : public base::HttpResponder {
 public:
  void Send(base::HttpResponse response) override { answer = std::move(response); }
  std::shared_ptr<base::HttpStream> StartStream(base::HttpResponse) override { return nullptr; }
  void Abort() override {}

  base::HttpResponse answer;
};

TEST_CASE("health checks, metrics and version come before the API") {
  Fixture f;
  metrics::Registry registry;
  registry.GetCounter("things_total", "Things.").Increment();
  Next next;
  Endpoints endpoints(f.health, registry, json::Value::Object({{"gitVersion", "v1"}}), next);
  const auto ask = [&](const std::string& path, const std::string& method = "GET") {
    ApiRequest request;
    request.http.method = method;
    request.http.path = path;
    const auto recorder = std::make_shared<Recorder>();
    endpoints.Handle(std::move(request), recorder);
    return recorder->answer;
  };
  CHECK(ask("/livez").body == "ok");
  CHECK(ask("/metrics").body.find("things_total 1") != std::string::npos);
  CHECK(ask("/version").body == "{\n  \"gitVersion\": \"v1\"\n}\n");
  CHECK(ask("/version", "POST").code == 405);
  CHECK(ask("/apis").body == "next");
  CHECK(ask("/metrics/x").body == "next");
}

}  // namespace
}  // namespace kube::aggregation
