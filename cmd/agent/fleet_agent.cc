// A tick does what is due: it ends the agent when that is asked for or when the agent has failed,
// or starts it, one of a few at once (StartSlots). Both block, on a thread of the pool; in between
// there is nothing to do, until RequestStop or the agent's failure wakes it. Another kubeconfig of
// the control plane cuts a start off, and ends the pause before the next one; an agent that runs
// reads it by itself (KubeconfigWatch).
//
// An agent that could not be ended is not started again, lest the cluster has two. Its threads may
// still report that it has failed: so the object stays as long as the process.

#include "cmd/agent/fleet_agent.h"

#include <algorithm>
#include <utility>

#include "absl/time/time.h"
#include "base/log.h"
#include "base/status.h"
#include "kube/kubeconfig/kubeconfig.h"
#include "kube/kubeconfig/self_contained_kubeconfig.h"

namespace cmd {
namespace {

constexpr absl::Duration kFirstPause = absl::Seconds(5);
constexpr absl::Duration kLongestPause = absl::Minutes(1);

}  // namespace

absl::StatusOr<StartedAgent> StartAgent(config::AgentOptions options, AgentConnections connections,
                                        const AgentPlace& place, RunningAgent::Calls calls) {
  auto started = RunningAgent::Start(std::move(options), std::move(connections), place, calls);
  RETURN_IF_ERROR(started.status());
  const auto agent = std::make_shared<std::unique_ptr<RunningAgent>>(*std::move(started));
  return StartedAgent{.end = [agent] { return RunningAgent::End(std::move(*agent)); },
                      .metrics = [agent] { return (*agent)->Metrics(); }};
}

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
  if (control_plane_->Is(pair.karmada_kubeconfig)) return true;
  if (LeadsElsewhere(pair.karmada_kubeconfig)) return false;
  control_plane_->Set(pair.karmada_kubeconfig);
  has_new_kubeconfig_ = true;
  CutStart();
  Wake();
  return true;
}

// What has been read of one control plane is not continued in another one.
bool FleetAgent::LeadsElsewhere(const std::string& kubeconfig) const {
  const absl::StatusOr<kube::ConnectionConfig> config =
      kube::ParseSelfContainedKubeconfig(kubeconfig);
  absl::MutexLock lock(&mu_);
  return config.ok() && !server_.empty() && config->server != server_;
}

void FleetAgent::RequestStop() {
  stop_.request_stop();
  CutStart();
  Wake();
}

void FleetAgent::CutStart() {
  std::optional<base::StopSource> starting;
  {
    absl::MutexLock lock(&mu_);
    starting = starting_;
  }
  if (starting.has_value()) starting->request_stop();
}

bool FleetAgent::HasEnded() const {
  absl::MutexLock lock(&mu_);
  return has_ended_;
}

void FleetAgent::AwaitEnd() const {
  absl::MutexLock lock(&mu_);
  mu_.Await(absl::Condition(&has_ended_));
}

// Under the lock, so that the agent is not ended meanwhile.
std::string FleetAgent::Metrics() const {
  absl::MutexLock lock(&mu_);
  return metrics_ ? metrics_() : "";
}

absl::Duration FleetAgent::Tick(const base::StopToken&) {
  if (stop_.stop_requested()) return Ended(End());
  if (end_agent_ == nullptr) return TryToStart();
  if (!has_failed_) return absl::InfiniteDuration();
  const absl::Status ended = End();
  return is_stuck_ ? Ended(ended) : Failed(ended);
}

absl::Duration FleetAgent::Ended(const absl::Status& why) {
  if (is_stuck_) {
    base::LogError("the agent of a cluster has not ended in time",
                   {{"cluster", cluster_}, {"error", why}});
  } else {
    base::LogInfo("the agent of a cluster has stopped", {{"cluster", cluster_}});
  }
  EndWith(absl::OkStatus());
  return absl::InfiniteDuration();
}

absl::Duration FleetAgent::TryToStart() {
  const base::SteadyTime now = base::RealClock().SteadyNow();
  if (has_new_kubeconfig_) {
    next_start_ = now;
    pause_ = kFirstPause;
  }
  if (now < next_start_) return next_start_ - now;
  const StartSlots::Answer turn = parts_.slots.Enter(*this, was_slow_);
  if (!turn.may_start) return turn.pause;
  has_new_kubeconfig_ = false;
  began_ = now;
  const absl::Status started = Start(BeginStart());
  was_slow_ = parts_.slots.Leave(turn.slot) && !started.ok();
  if (started.ok()) return absl::InfiniteDuration();
  if (stop_.stop_requested() || has_new_kubeconfig_) return absl::ZeroDuration();
  return Failed(started);
}

base::StopToken FleetAgent::BeginStart() {
  base::StopSource starting;
  {
    absl::MutexLock lock(&mu_);
    starting_ = starting;
  }
  // Whoever asks from now on finds it.
  if (stop_.stop_requested() || has_new_kubeconfig_) starting.request_stop();
  return starting.get_token();
}

absl::Status FleetAgent::Start(const base::StopToken& stop) {
  has_failed_ = false;
  config::AgentOptions options = parts_.options;
  options.agent.cluster_name = cluster_;
  ASSIGN_OR_RETURN(AgentConnections connections, ConnectAgent(control_plane_, kubeconfig_));
  // Outside of a cluster its own address is the one that others have, too.
  options.agent.api_endpoint = connections.member->server;
  const auto registry = std::make_shared<metrics::Registry>();
  {
    absl::MutexLock lock(&mu_);
    metrics_ = [registry] { return registry->Expose(); };
    server_ = connections.control_plane->server();
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
  ASSIGN_OR_RETURN(StartedAgent started, parts_.start(std::move(options), std::move(connections),
                                                      place, {on_failure, stop}));
  end_agent_ = std::move(started.end);
  absl::MutexLock lock(&mu_);
  metrics_ = std::move(started.metrics);
  return absl::OkStatus();
}

absl::Status FleetAgent::End() {
  if (end_agent_ == nullptr) return absl::OkStatus();
  {
    absl::MutexLock lock(&mu_);
    metrics_ = nullptr;
  }
  const absl::Status ended = std::exchange(end_agent_, nullptr)();
  if (absl::IsDeadlineExceeded(ended)) is_stuck_ = true;
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
