// A tick does what is due: it ends the agent when that is asked for or when the agent has failed,
// or starts it, one of a few at once (StartSlots). Both block, on a thread of the pool; in between
// there is nothing to do, until RequestStop or the agent's failure wakes it.

#include "cmd/agent/fleet_agent.h"

#include <algorithm>
#include <utility>

#include "absl/time/time.h"
#include "base/log.h"
#include "base/status.h"
#include "cmd/agent/connections.h"

namespace cmd {
namespace {

constexpr absl::Duration kFirstPause = absl::Seconds(5);
constexpr absl::Duration kLongestPause = absl::Minutes(1);

}  // namespace

FleetAgent::FleetAgent(std::string cluster, ClusterPair pair, FleetParts& parts)
    : Periodic(base::RealClock()),
      cluster_(std::move(cluster)),
      kubeconfig_(std::move(pair.kubeconfig)),
      parts_(parts),
      control_plane_(std::make_shared<KubeconfigText>(std::move(pair.karmada_kubeconfig))),
      pause_(kFirstPause) {
  RunOn(*parts_.shared.pool, base::StopToken(), [this](const absl::Status& status) {
    if (!status.ok()) base::LogError("an agent cannot run", {{"error", status}});
    absl::MutexLock lock(&mu_);
    has_ended_ = true;
  });
}

FleetAgent::~FleetAgent() {
  RequestStop();
  AwaitEnd();
  parts_.slots.Forget(*this);
}

bool FleetAgent::Use(const ClusterPair& pair) {
  if (pair.kubeconfig != kubeconfig_) return false;
  control_plane_->Set(pair.karmada_kubeconfig);
  return true;
}

void FleetAgent::RequestStop() {
  stop_.request_stop();
  Wake();
}

bool FleetAgent::HasEnded() const {
  absl::MutexLock lock(&mu_);
  return has_ended_;
}

void FleetAgent::AwaitEnd() const {
  absl::MutexLock lock(&mu_);
  mu_.Await(absl::Condition(&has_ended_));
}

std::string FleetAgent::Metrics() const {
  std::shared_ptr<metrics::Registry> registry;
  {
    absl::MutexLock lock(&mu_);
    registry = registry_;
  }
  return registry == nullptr ? "" : registry->Expose();
}

absl::Duration FleetAgent::Tick(const base::StopToken&) {
  if (stop_.stop_requested()) {
    base::IgnoreError(End(), "it was asked to end");
    base::LogInfo("the agent of a cluster has stopped", {{"cluster", cluster_}});
    EndWith(absl::OkStatus());
    return absl::InfiniteDuration();
  }
  if (agent_ != nullptr) return has_failed_ ? Failed(End()) : absl::InfiniteDuration();
  const base::SteadyTime now = base::RealClock().SteadyNow();
  if (now < next_start_) return next_start_ - now;
  const StartSlots::Answer turn = parts_.slots.Enter(*this);
  if (!turn.may_start) return turn.pause;
  began_ = now;
  const absl::Status started = Start();
  parts_.slots.Leave(turn.slot);
  if (stop_.stop_requested()) return absl::ZeroDuration();
  return started.ok() ? absl::InfiniteDuration() : Failed(started);
}

absl::Status FleetAgent::Start() {
  has_failed_ = false;
  config::AgentOptions options = parts_.options;
  options.agent.cluster_name = cluster_;
  ASSIGN_OR_RETURN(AgentConnections connections, ConnectAgent(control_plane_, kubeconfig_));
  // Outside of a cluster its own address is the one that others have, too.
  options.agent.api_endpoint = connections.member.server;
  const auto registry = std::make_shared<metrics::Registry>();
  {
    absl::MutexLock lock(&mu_);
    registry_ = registry;
  }
  AgentPlace place;
  place.registry = registry;
  place.shared = parts_.shared;
  place.fence = parts_.fence;
  place.ends_process = false;
  const auto on_failure = [this] {
    has_failed_ = true;
    Wake();
  };
  auto started = RunningAgent::Start(std::move(options), std::move(connections), place,
                                     {on_failure, stop_.get_token()});
  RETURN_IF_ERROR(started.status());
  agent_ = *std::move(started);
  return absl::OkStatus();
}

absl::Status FleetAgent::End() {
  if (agent_ == nullptr) return absl::OkStatus();
  absl::Status ended = RunningAgent::End(std::move(agent_));
  if (absl::IsDeadlineExceeded(ended)) is_stuck_ = true;
  absl::MutexLock lock(&mu_);
  registry_ = nullptr;
  return ended;
}

absl::Duration FleetAgent::Failed(const absl::Status& why) {
  base::LogError("the agent of a cluster has ended, and begins again",
                 {{"cluster", cluster_}, {"error", why}});
  const base::SteadyTime now = base::RealClock().SteadyNow();
  if (now - began_ > kLongestPause) pause_ = kFirstPause;
  next_start_ = now + pause_;
  return std::exchange(pause_, std::min(pause_ * 2, kLongestPause));
}

}  // namespace cmd
