// One of the agents of a process that is the agent of many clusters.
#ifndef CMD_AGENT_FLEET_AGENT_H_
#define CMD_AGENT_FLEET_AGENT_H_

#include <atomic>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <utility>

#include "absl/base/thread_annotations.h"
#include "absl/status/status.h"
#include "absl/synchronization/mutex.h"
#include "base/clock.h"
#include "base/metrics.h"
#include "base/stop_token.h"
#include "cmd/agent/agent.h"
#include "cmd/agent/cluster_pairs.h"
#include "cmd/agent/connections.h"
#include "cmd/agent/start_slots.h"
#include "config/agent_options.h"
#include "kube/runtime/leader_fence.h"
#include "kube/runtime/periodic.h"

namespace cmd {

// An agent that runs, until it is ended or destroyed.
struct StartedAgent {
  std::function<absl::Status()> end;     // Does what RunningAgent::End does.
  std::function<std::string()> metrics;  // Returns what RunningAgent::Metrics does.
};
// Starts an agent, as RunningAgent::Start.
using StartAgentFn = std::function<absl::StatusOr<StartedAgent>(
    config::AgentOptions options, AgentConnections connections, const AgentPlace& place,
    RunningAgent::Calls calls)>;
absl::StatusOr<StartedAgent> StartAgent(config::AgentOptions options, AgentConnections connections,
                                        const AgentPlace& place, RunningAgent::Calls calls);

// What all agents of a process have in common.
struct FleetParts {
  FleetParts(config::AgentOptions given, controllers::SharedParts parts,
             std::shared_ptr<kube::LeaderFence> open, StartAgentFn start_agent)
      : options(std::move(given)),
        shared(std::move(parts)),
        fence(std::move(open)),
        start(std::move(start_agent)) {}

  // Those of each agent but for its name; the addresses are the process's.
  config::AgentOptions options;
  controllers::SharedParts shared;
  // Keeps the writes back when the process may not act any more; nullptr: each agent has a lease of
  // its own in its control plane.
  std::shared_ptr<kube::LeaderFence> fence;
  StartAgentFn start;
  StartSlots slots{base::RealClock()};
};

// The agent of one cluster, again and again: one that ends by itself is started again after five
// seconds, then ten, up to a minute, and at once with another kubeconfig. One that cannot be ended
// is not. It has no thread of its own. Thread-safe.
class FleetAgent : public kube::Periodic {
 public:
  // Begins at once. REQUIRES: `parts` outlives the object.
  FleetAgent(std::string cluster, ClusterPair pair, FleetParts& parts);
  ~FleetAgent() override;  // Ends it and waits for the end.

  std::string name() const override { return "an agent"; }
  // Takes the kubeconfigs into use. Returns false when the agent has to be another one for that:
  // its cluster is reached in another way, or its control plane has another address.
  bool Use(const ClusterPair& pair);
  void RequestStop();
  bool HasEnded() const;
  void AwaitEnd() const;
  // Returns whether it could not be ended in time, so that something of it may still write, and
  // uses the object: it must not be destroyed then.
  bool IsStuck() const { return is_stuck_; }
  // Returns its metrics; "" while it does not run.
  std::string Metrics() const;

 protected:
  absl::Duration Tick(const base::StopToken& stop) override;

 private:
  // The stop for the start that begins now.
  base::StopToken BeginStart();
  absl::Status Start(const base::StopToken& stop);
  // Ends the start that is under way.
  void CutStart();
  // Returns whether the kubeconfig leads to another control plane than that of the last start.
  bool LeadsElsewhere(const std::string& kubeconfig) const;
  absl::Duration TryToStart();
  absl::Status End();
  absl::Duration Ended(const absl::Status& why);
  absl::Duration Failed(const absl::Status& why);

  const std::string cluster_;
  const std::string kubeconfig_;
  FleetParts& parts_;
  const std::shared_ptr<KubeconfigText> control_plane_;
  base::StopSource stop_;
  std::atomic<bool> has_failed_ = false;  // The agent that runs.
  std::atomic<bool> is_stuck_ = false;
  std::atomic<bool> has_new_kubeconfig_ = false;
  // Used by Tick alone.
  std::function<absl::Status()> end_agent_;  // While it runs.
  base::SteadyTime began_, next_start_ = base::SteadyTime::InfinitePast();
  absl::Duration pause_;
  bool was_slow_ = false;  // The last start, which has failed.

  mutable absl::Mutex mu_;
  std::optional<base::StopSource> starting_ ABSL_GUARDED_BY(mu_);
  std::string server_ ABSL_GUARDED_BY(mu_);  // The control plane of the last start.
  std::function<std::string()> metrics_ ABSL_GUARDED_BY(mu_);
  bool has_ended_ ABSL_GUARDED_BY(mu_) = false;
};

}  // namespace cmd

#endif  // CMD_AGENT_FLEET_AGENT_H_
