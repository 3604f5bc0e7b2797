// An aggregated API server whose requests stay unanswered until the test answers them.
#ifndef TESTS_KUBE_AGGREGATION_KEEPING_SERVER_H_
#define TESTS_KUBE_AGGREGATION_KEEPING_SERVER_H_

#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "absl/strings/str_cat.h"
#include "absl/synchronization/mutex.h"
#include "kube/aggregation/handler_chain.h"
#include "tests/kube/aggregation/aggregated_server.h"
#include "tests/support/fake_clock.h"

namespace tests {

// Keeps requests unanswered until the test takes them. Outlives the server.
class Kept {
 public:
  struct Item {
    kube::aggregation::ApiRequest request;
    std::shared_ptr<base::HttpResponder> responder;
  };
  EchoingHandler::Handling Handling() {
    return [this](kube::aggregation::ApiRequest request,
                  std::shared_ptr<base::HttpResponder> responder) {
      absl::MutexLock lock(&mu_);
      items_.push_back({std::move(request), std::move(responder)});
    };
  }
  // Waits for the next request.
  Item Take() {
    const auto has = [this]() ABSL_SHARED_LOCKS_REQUIRED(mu_) { return !items_.empty(); };
    absl::MutexLock lock(&mu_, absl::Condition(&has));
    Item item = std::move(items_.front());
    items_.erase(items_.begin());
    return item;
  }

 private:
  absl::Mutex mu_;
  std::vector<Item> items_ ABSL_GUARDED_BY(mu_);
};

// A server whose handler keeps the requests, or answers them by itself.
struct KeepingServer {
  Kept kept;
  FakeClock clock;
  AggregatedServer server;
  tls::KeyPair bob;

  explicit KeepingServer(AggregatedServer::Options options = {}, bool keep = true) {
    server.reviews->AllowAll();
    if (keep) server.handler.handling = kept.Handling();
    server.Start(std::move(options), clock);
    bob = server.ClientPair("bob");
  }
  std::unique_ptr<TlsRawClient> Connect() { return server.Connect(bob); }

  static void Send(RawClient& client, const std::string& target,
                   const std::string& method = "GET") {
    client.Send(absl::StrCat(method, " ", target, " HTTP/1.1\r\nHost: localhost\r\n\r\n"));
  }
  double InFlight(const char* kind) {
    return server.registry
        .GetGauge("apiserver_current_inflight_requests", "", {{"request_kind", kind}})
        .Value();
  }
  double Refused(const char* cause) {
    return server.registry.GetCounter("karmada_refused_requests_total", "", {{"cause", cause}})
        .Value();
  }
};

inline constexpr char kPodsPath[] = "/api/v1/namespaces/a/pods";

}  // namespace tests

#endif  // TESTS_KUBE_AGGREGATION_KEEPING_SERVER_H_
