#include "tests/bench/interpreter/webhook_rounds.h"

#include <algorithm>
#include <chrono>
#include <memory>
#include <utility>
#include <vector>

#include "absl/strings/str_cat.h"
#include "base/metrics.h"
#include "base/status.h"
#include "base/yaml.h"
#include "examples/webhook/server.h"
#include "interpreter/webhook/configuration.h"
#include "kube/http/http_transport.h"
#include "tests/bench/interpreter/operations.h"

namespace bench {

namespace {

using WallClock = std::chrono::steady_clock;

constexpr char kManifests[] = "examples/webhook/manifests";

// Remembers the last request, so that it can be sent again without the layer.
class RememberingTransport : public kube::Transport {
 public:
  explicit RememberingTransport(std::shared_ptr<kube::Transport> wire) : wire_(std::move(wire)) {}

  absl::StatusOr<kube::HttpResponse> Send(const kube::HttpRequest& request,
                                          const base::StopToken& stop) override {
    if (last_.path.empty()) last_ = request;
    return wire_->Send(request, stop);
  }
  std::unique_ptr<kube::HttpStream> Open(const kube::HttpRequest& request,
                                         kube::StreamCallbacks callbacks) override {
    return wire_->Open(request, std::move(callbacks));
  }

  const kube::HttpRequest& last() const { return last_; }
  kube::Transport& wire() { return *wire_; }

 private:
  const std::shared_ptr<kube::Transport> wire_;
  kube::HttpRequest last_;
};

// Returns the hooks that the example's manifests declare.
absl::StatusOr<std::shared_ptr<const interpreter::webhook::HookSet>> HooksOf(
    const example::RunningServer& server) {
  ASSIGN_OR_RETURN(const std::string text, example::FilledManifests(kManifests, server));
  ASSIGN_OR_RETURN(const std::vector<json::Value> documents, yaml::ParseAll(text));
  std::vector<interpreter::webhook::Hook> hooks;
  for (const json::Value& document : documents) {
    const kube::Object object(document);
    if (object.kind() != "ResourceInterpreterWebhookConfiguration") continue;
    auto read = interpreter::webhook::ReadConfiguration(object);
    std::move(read.hooks.begin(), read.hooks.end(), std::back_inserter(hooks));
  }
  return std::make_shared<const interpreter::webhook::HookSet>(std::move(hooks));
}

Rounds Summary(std::vector<double> ns) {
  std::sort(ns.begin(), ns.end());
  return {ns[ns.size() / 2], ns[ns.size() * 9 / 10]};
}

double NsSince(WallClock::time_point began) {
  return std::chrono::duration<double, std::nano>(WallClock::now() - began).count();
}

absl::Status AskLayer(const interpreter::Interpreter& chain, const kube::Object& object) {
  ASSIGN_OR_RETURN(const interpreter::Health health, chain.InterpretHealth(object));
  return health.healthy ? absl::OkStatus()
                        : absl::InternalError("the example called the object unwell");
}

absl::Status AskRaw(kube::Transport& wire, const kube::HttpRequest& request) {
  ASSIGN_OR_RETURN(const kube::HttpResponse response, wire.Send(request, {}));
  if (response.code == 200 && !response.body.empty()) return absl::OkStatus();
  return absl::InternalError(absl::StrCat("the example answered with code ", response.code));
}

absl::StatusOr<WebhookCost> MeasureRounds(const interpreter::Interpreter& chain,
                                          RememberingTransport& transport,
                                          const kube::Object& object, absl::Duration length) {
  std::vector<double> raw, layer;
  const auto end = WallClock::now() + absl::ToChronoNanoseconds(length);
  while (WallClock::now() < end) {
    const auto began = WallClock::now();
    RETURN_IF_ERROR(AskLayer(chain, object));
    layer.push_back(NsSince(began));
    const auto again = WallClock::now();
    RETURN_IF_ERROR(AskRaw(transport.wire(), transport.last()));
    raw.push_back(NsSince(again));
  }
  return WebhookCost{Summary(raw), Summary(layer), transport.last().body.size()};
}

}  // namespace

absl::StatusOr<WebhookCost> MeasureWebhook(const std::string& objects, absl::Duration length) {
  ASSIGN_OR_RETURN(const example::RunningServer server,
                   example::StartServer({.address = "127.0.0.1:0"}));
  ASSIGN_OR_RETURN(json::Value workload, ReadJson(objects + "/workload.json"));
  std::shared_ptr<RememberingTransport> transport;
  metrics::Registry registry;
  InterpreterOptions options{.metrics = &registry};
  options.webhooks.monitor.metrics = &registry;
  options.webhooks.client.transport = [&transport](const kube::ConnectionConfig& config)
      -> absl::StatusOr<std::shared_ptr<kube::Transport>> {
    ASSIGN_OR_RETURN(auto wire, kube::NewCpprestTransport(config));
    transport = std::make_shared<RememberingTransport>(std::move(wire));
    return transport;
  };
  ASSIGN_OR_RETURN(options.hooks, HooksOf(server));
  const auto chain = NewInterpreter(std::move(options));
  const kube::Object object(std::move(workload));
  RETURN_IF_ERROR(AskLayer(*chain, object));  // The first call connects.
  return MeasureRounds(*chain, *transport, object, length);
}

}  // namespace bench
