// A metrics API that does not answer, or answers late, and the other calls to the same server.
#include <catch2/catch.hpp>
#include <memory>
#include <string>
#include <thread>
#include <vector>

#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "absl/synchronization/mutex.h"
#include "absl/synchronization/notification.h"
#include "base/clock.h"
#include "base/status.h"
#include "controllers/autoscaling/metrics_client.h"
#include "tests/support/eventually.h"

namespace {

// Answers at once, but for the external metrics API: questions to it wait, and then fail as they do
// at their deadline.
class Server : public kube::Transport {
 public:
  absl::Notification silence_ends;

  absl::StatusOr<kube::HttpResponse> Send(const kube::HttpRequest& request,
                                          const base::StopToken&) override {
    if (!absl::StrContains(request.path, "external.metrics")) {
      return kube::HttpResponse{200, {}, R"({"items": []})"};
    }
    {
      absl::MutexLock lock(&mu_);
      ++asked_;
    }
    silence_ends.WaitForNotification();
    return absl::DeadlineExceededError("no answer in time");
  }
  std::unique_ptr<kube::HttpStream> Open(const kube::HttpRequest&, kube::StreamCallbacks) override {
    return nullptr;
  }
  int asked() const {
    absl::MutexLock lock(&mu_);
    return asked_;
  }

 private:
  mutable absl::Mutex mu_;
  int asked_ = 0;
};

TEST_CASE("a metrics API that does not answer holds up neither other calls nor other metrics") {
  constexpr int kAutoscalers = 25;
  const auto server = std::make_shared<Server>();
  metrics::Registry registry;
  // A call that waits for a place fails after this time.
  kube::Client client{
      server, {.name = "plane", .timeout = absl::Seconds(2)}, base::RealClock(), nullptr};
  kube::RestMapper mapper{client, base::RealClock()};
  autoscaling::MetricsClient metrics{client, mapper, registry};
  const kube::Resource pods{{"", "v1", "Pod"}, "pods", true};

  std::vector<std::thread> autoscalers;
  for (int i = 0; i < kAutoscalers; ++i) {
    autoscalers.emplace_back([&] {
      api::MetricSpec spec;
      spec.metric = "queue_length";
      base::IgnoreError(metrics.External("ns", spec, {}).status(), "the API is silent");
    });
  }
  // No more wait for an answer at the same time.
  const bool all_wait = tests::Eventually([&] { return server->asked() >= 20; });
  int answered = 0;
  for (; answered < 100 && all_wait; ++answered) {
    if (!client.List(pods, "ns", {}, {}).ok()) break;
    // There are no metrics, and the API has said so.
    if (!absl::IsNotFound(metrics.Resource({"ns", ""}, api::MetricSpec(), {}).status())) break;
  }
  server->silence_ends.Notify();
  for (std::thread& autoscaler : autoscalers) autoscaler.join();
  REQUIRE(all_wait);
  CHECK(answered == 100);
}

}  // namespace
