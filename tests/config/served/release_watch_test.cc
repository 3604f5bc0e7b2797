// A control plane is upgraded below a running process. (That the process begins again is shown by
// tests/e2e/cases/test_release.py.)
#include "config/served/release_watch.h"

#include <catch2/catch.hpp>
#include <memory>
#include <string>
#include <thread>

#include "absl/synchronization/mutex.h"
#include "base/status.h"
#include "kube/http/transport.h"
#include "tests/support/fake_clock.h"

namespace config {
namespace {

class Server : public kube::Transport {
 public:
  void Serve(int code, std::string body) {
    absl::MutexLock lock(&mu_);
    answer_ = {code, {}, std::move(body)};
  }
  int asked() {
    absl::MutexLock lock(&mu_);
    return asked_;
  }
  absl::StatusOr<kube::HttpResponse> Send(const kube::HttpRequest&,
                                          const base::StopToken&) override {
    absl::MutexLock lock(&mu_);
    ++asked_;
    return answer_;
  }
  std::unique_ptr<kube::HttpStream> Open(const kube::HttpRequest&, kube::StreamCallbacks) override {
    return nullptr;
  }

 private:
  absl::Mutex mu_;
  kube::HttpResponse answer_;
  int asked_ = 0;
};

constexpr char kOld[] = R"({"components": {"schemas": {"rb": {
    "x-kubernetes-group-version-kind": [{"kind": "ResourceBinding"}]}}}})";
constexpr char kNew[] = R"({"components": {"schemas": {"rb": {
    "x-kubernetes-group-version-kind": [{"kind": "ResourceBinding"}], "properties": {"spec":
    {"properties": {"clusters": {"items": {"properties": {"components": {}}}}}}}}}}})";

}  // namespace

TEST_CASE("a process ends when its control plane has become one of another release") {
  tests::FakeClock clock;
  const auto server = std::make_shared<Server>();
  kube::Client client(server, {.name = "control plane", .host = "host:443"}, clock, nullptr);
  server->Serve(200, kOld);
  absl::Status ended;
  std::thread running(
      [&] { ended = AwaitOtherRelease(Release::kV1_18, client, base::StopToken()); });
  const auto ask = [&](int times) {
    while (server->asked() < times) {
      if (clock.waiters() > 0) clock.AdvanceAndAwait(absl::Seconds(10));
    }
  };
  ask(1);
  server->Serve(403, "no");  // What cannot be seen has not changed.
  ask(server->asked() + 1);
  server->Serve(200, kNew);
  ask(server->asked() + 1);
  running.join();
  CHECK(IsOtherRelease(base::Annotate(ended, "release watch")));
  CHECK(std::string(ended.message()) ==
        "the control plane serves the definitions of Karmada v1.19, and this process behaves as "
        "v1.18");
  CHECK_FALSE(IsOtherRelease(absl::AbortedError("lease lost")));
}

TEST_CASE("a control plane that shows no definitions while it starts is still of its release") {
  tests::FakeClock clock;
  const auto server = std::make_shared<Server>();
  kube::Client client(server, {.name = "control plane", .host = "host:443"}, clock, nullptr);
  base::StopSource stop;
  absl::Status ended;
  std::thread running(
      [&] { ended = AwaitOtherRelease(Release::kV1_19, client, stop.get_token()); });
  const auto ask = [&](int times) {
    while (server->asked() < times) {
      if (clock.waiters() > 0) clock.AdvanceAndAwait(absl::Seconds(10));
    }
  };
  for (const char* shown : {R"({"components": {"schemas": {}}})", "{}"}) {
    server->Serve(200, shown);
    ask(server->asked() + 1);
  }
  server->Serve(404, "404 page not found");
  ask(server->asked() + 2);
  stop.request_stop();
  running.join();
  CHECK(ended.ok());
}

TEST_CASE("a stop ends the watch without an error") {
  tests::FakeClock clock;
  const auto server = std::make_shared<Server>();
  kube::Client client(server, {.name = "control plane", .host = "host:443"}, clock, nullptr);
  base::StopSource stop;
  stop.request_stop();
  CHECK(AwaitOtherRelease(Release::kV1_18, client, stop.get_token()).ok());
}

}  // namespace config
