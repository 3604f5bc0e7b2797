// A shadow under a ClusterClient, over a server in memory that counts what reaches it.
#ifndef TESTS_KUBE_CACHE_SHADOW_FIXTURE_H_
#define TESTS_KUBE_CACHE_SHADOW_FIXTURE_H_

#include <catch2/catch.hpp>
#include <cstdint>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "absl/strings/str_cat.h"
#include "base/json.h"
#include "base/metrics.h"
#include "kube/cache/cluster_client.h"
#include "kube/shadow/shadow.h"
#include "tests/support/fake_clock.h"
#include "tests/support/fake_transport.h"

namespace kube {

inline const Resource kMaps = {{"", "v1", "ConfigMap"}, "configmaps", true};

// Keeps the requests that would change something.
class WriteCounter : public Transport {
 public:
  explicit WriteCounter(std::shared_ptr<Transport> server) : server_(std::move(server)) {}
  absl::StatusOr<HttpResponse> Send(const HttpRequest& request,
                                    const base::StopToken& stop) override {
    if (cut_off) return absl::CancelledError("cut off");
    if (without_path) return HttpResponse{.code = 404, .body = "404 page not found"};
    if (request.method != "GET") writes.push_back(request.method + " " + request.path);
    return server_->Send(request, stop);
  }
  std::unique_ptr<HttpStream> Open(const HttpRequest& request, StreamCallbacks callbacks) override {
    return server_->Open(request, std::move(callbacks));
  }
  std::vector<std::string> writes;
  bool cut_off = false;
  bool without_path = false;  // As a proxy without a server behind it.

 private:
  const std::shared_ptr<Transport> server_;
};

// Sends writes again, as loops do that look at everything again.
class Repeater : public Transport {
 public:
  explicit Repeater(std::shared_ptr<Transport> server) : server_(std::move(server)) {}
  absl::StatusOr<HttpResponse> Send(const HttpRequest& request,
                                    const base::StopToken& stop) override {
    if (request.method != "GET") writes_.push_back(request);
    return server_->Send(request, stop);
  }
  std::unique_ptr<HttpStream> Open(const HttpRequest& request, StreamCallbacks callbacks) override {
    return server_->Open(request, std::move(callbacks));
  }
  void Repeat() {
    for (const HttpRequest& write : writes_) server_->Send(write, {}).IgnoreError();
  }

 private:
  const std::shared_ptr<Transport> server_;
  std::vector<HttpRequest> writes_;
};

struct ShadowFixture {
  std::shared_ptr<tests::FakeApiServer> server = std::make_shared<tests::FakeApiServer>();
  std::shared_ptr<WriteCounter> counter = std::make_shared<WriteCounter>(server);
  tests::FakeClock clock;
  metrics::Registry registry;
  std::shared_ptr<Shadow> shadow = std::make_shared<Shadow>(clock);
  std::shared_ptr<Repeater> loops = std::make_shared<Repeater>(shadow->Over("member1", counter));
  Client client{loops, {.name = "member1"}, clock, nullptr};
  RestMapper mapper{client, clock};
  InformerSet informers{client, clock};
  ClusterClient cluster{client, mapper, informers};
  base::StopToken stop;

  ShadowFixture() { shadow->ShowIn(registry); }

  static Object Map(const std::string& name, const std::string& value) {
    Object map = Object::Make(kMaps.gvk, {"ns", name});
    map.Set({"data", "k"}, value);
    return map;
  }
  ObjectPtr PutMap(const std::string& name, const std::string& value) {
    return Share(server->Put(kMaps, Map(name, value)));
  }
  absl::StatusOr<ObjectPtr> SetMap(const ObjectPtr& before, const std::string& value) {
    Object after = *before;
    after.Set({"data", "k"}, value);
    return cluster.Update(kMaps, before, after, {}, stop);
  }
  json::Value Page() { return json::Parse(shadow->Page()).value(); }
  json::Value Outstanding() {
    shadow->Judge(stop);
    clock.Advance(Shadow::kHold);
    Round();
    shadow->Judge(stop);
    return Page()["writes"];
  }
  void Round() {
    clock.Advance(absl::Seconds(1));
    shadow->BeginRound();
    loops->Repeat();
    shadow->EndRound();
  }
  double Reports(const std::string& verb, const std::string& kind) {
    return registry
        .GetCounter("karmada_shadow_writes_total", "",
                    {{"cluster", "member1"}, {"kind", kind}, {"verb", verb}})
        .Value();
  }
  int64_t Count(const char* name) { return Page()[name].AsInt(); }
  // Sends a merge patch as a loop does, without the client, which waits before it repeats after a
  // 429.
  int Send(const std::string& name, const std::string& body) {
    const HttpRequest request{.method = "PATCH",
                              .path = "/api/v1/namespaces/ns/configmaps/" + name,
                              .content_type = "application/merge-patch+json",
                              .body = body};
    const auto answer = loops->Send(request, stop);
    return answer.ok() ? answer->code : 0;
  }
  int SendPatch(const std::string& name, const std::string& value) {
    return Send(name, absl::StrCat(R"({"data":{"k":")", value, "\"}}"));
  }
  // Until EndFailures.
  void FailReads(int code) { server->FailNext("GET", code, "Failed", 1000); }
  double Gauge() { return registry.GetGauge("karmada_shadow_writes_outstanding", "").Value(); }
};

}  // namespace kube

#endif  // TESTS_KUBE_CACHE_SHADOW_FIXTURE_H_
