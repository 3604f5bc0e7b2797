// The thread of RunAgentFleet looks at the directory every two seconds and makes the set of agents
// equal to it: a folder that is gone ends its agent, another kubeconfig of the cluster begins it
// again. (Another kubeconfig of the control plane is seen by the agent itself.) While the directory
// cannot be read, all agents go on. Each agent has a thread that runs it, and runs it again after
// five seconds, then ten, up to a minute. The loops of all agents work on the threads of one pool.
//
// An agent that is ended has the manager's graceful period. Several end at the same time; the loop
// waits for them, so that a cluster never has two agents of this process.

#include "cmd/agent/agent_fleet.h"

#include <algorithm>
#include <map>
#include <memory>
#include <string>
#include <thread>
#include <utility>
#include <vector>

#include "absl/base/thread_annotations.h"
#include "absl/strings/match.h"
#include "absl/synchronization/mutex.h"
#include "absl/time/time.h"
#include "base/clock.h"
#include "base/http_server.h"
#include "base/log.h"
#include "base/metrics.h"
#include "base/status.h"
#include "base/threads.h"
#include "cmd/agent/agent.h"
#include "cmd/agent/cluster_pairs.h"
#include "cmd/agent/connections.h"
#include "cmd/agent/metrics_page.h"
#include "controllers/process/listen_errors.h"
#include "kube/runtime/worker_pool.h"

namespace cmd {
namespace {

constexpr absl::Duration kBetweenLooks = absl::Seconds(2);
constexpr absl::Duration kFirstPause = absl::Seconds(5);
constexpr absl::Duration kLongestPause = absl::Minutes(1);

// The options of one agent: the addresses are the process's.
config::AgentOptions OptionsOf(config::AgentOptions options, const std::string& cluster,
                               const ClusterPair& pair) {
  options.agent.clusters_from.clear();
  options.agent.cluster_name = cluster;
  options.agent.karmada_kubeconfig = pair.karmada_kubeconfig;
  options.loops.kubeconfig = pair.kubeconfig;
  options.loops.health_probe_bind_address = "0";
  options.loops.metrics_bind_address = "0";
  options.loops.profiling.enabled = false;
  // Another process takes a cluster over at once, and this one does not wait for itself.
  options.loops.leader_election.release_on_exit = true;
  return options;
}

// The agent of one cluster, again and again. Thread-safe.
class FleetAgent {
 public:
  FleetAgent(std::string cluster, config::AgentOptions options, ClusterPair pair,
             std::shared_ptr<kube::WorkerPool> pool)
      : cluster_(std::move(cluster)),
        options_(std::move(options)),
        pair_(std::move(pair)),
        pool_(std::move(pool)) {
    thread_ = base::StartThread("an agent", [this] { Run(stop_.get_token()); });
  }
  ~FleetAgent() {
    RequestStop();
    thread_.join();
  }

  void RequestStop() { stop_.request_stop(); }
  bool IsOf(const ClusterPair& pair) const { return pair.content == pair_.content; }
  // Returns its metrics; "" while it does not run.
  std::string Metrics() const {
    std::shared_ptr<metrics::Registry> registry;
    {
      absl::MutexLock lock(&mu_);
      registry = registry_;
    }
    return registry == nullptr ? "" : registry->Expose();
  }

 private:
  void Run(const base::StopToken& stop) {
    absl::Duration pause = kFirstPause;
    while (!stop.stop_requested()) {
      const base::SteadyTime began = base::RealClock().SteadyNow();
      const absl::Status ended = RunOnce(stop);
      if (stop.stop_requested()) break;
      base::LogError("the agent of a cluster has ended, and begins again",
                     {{"cluster", cluster_}, {"error", ended}});
      if (base::RealClock().SteadyNow() - began > kLongestPause) pause = kFirstPause;
      if (!base::RealClock().SleepFor(pause, stop)) break;
      pause = std::min(pause * 2, kLongestPause);
    }
    base::LogInfo("the agent of a cluster has stopped", {{"cluster", cluster_}});
  }

  absl::Status RunOnce(const base::StopToken& stop) {
    config::AgentOptions options = options_;
    ASSIGN_OR_RETURN(const AgentConnections connections, ConnectAgent(options));
    // Outside of a cluster its own address is the one that others have, too.
    options.agent.api_endpoint = connections.member.server;
    const auto registry = std::make_shared<metrics::Registry>();
    Show(registry);
    const absl::Status ended =
        RunAgent(std::move(options), connections, {registry, pool_, /*ends_process=*/false}, stop);
    Show(nullptr);
    return ended;
  }

  void Show(std::shared_ptr<metrics::Registry> registry) {
    absl::MutexLock lock(&mu_);
    registry_ = std::move(registry);
  }

  const std::string cluster_;
  const config::AgentOptions options_;
  const ClusterPair pair_;
  const std::shared_ptr<kube::WorkerPool> pool_;
  base::StopSource stop_;
  mutable absl::Mutex mu_;
  std::shared_ptr<metrics::Registry> registry_ ABSL_GUARDED_BY(mu_);
  std::thread thread_;
};

// The agents of a directory. Thread-safe.
class AgentFleet {
 public:
  explicit AgentFleet(const config::AgentOptions& options) : options_(options) {}
  ~AgentFleet() {
    End(Take([](const std::string&, const FleetAgent&) { return true; }));
  }

  // Makes the agents those of the pairs.
  void Follow(const std::map<std::string, ClusterPair>& pairs) {
    End(Take([&pairs](const std::string& cluster, const FleetAgent& agent) {
      const auto found = pairs.find(cluster);
      // A folder that is being written keeps its agent.
      return found == pairs.end() || (found->second.usable.ok() && !agent.IsOf(found->second));
    }));
    std::erase_if(reported_, [&pairs](const auto& one) { return !pairs.contains(one.first); });
    for (const auto& [cluster, pair] : pairs) {
      if (!pair.usable.ok()) {
        Report(cluster, pair.usable);
        continue;
      }
      reported_.erase(cluster);
      absl::MutexLock lock(&mu_);
      if (agents_.contains(cluster)) continue;
      base::LogInfo("the agent of a cluster begins", {{"cluster", cluster}});
      agents_[cluster] =
          std::make_shared<FleetAgent>(cluster, OptionsOf(options_, cluster, pair), pair, pool_);
    }
  }

  std::string Metrics() const {
    std::map<std::string, std::shared_ptr<FleetAgent>> agents;
    {
      absl::MutexLock lock(&mu_);
      agents = agents_;
    }
    std::map<std::string, std::string> pages;
    for (const auto& [cluster, agent] : agents) pages[cluster] = agent->Metrics();
    return MergedMetrics(pages);
  }

 private:
  using Agents = std::map<std::string, std::shared_ptr<FleetAgent>>;

  template <class Goes>
  Agents Take(const Goes& goes) {
    Agents taken;
    absl::MutexLock lock(&mu_);
    for (auto& [cluster, agent] : agents_) {
      if (goes(cluster, *agent)) taken[cluster] = agent;
    }
    for (const auto& [cluster, agent] : taken) agents_.erase(cluster);
    return taken;
  }
  static void End(Agents agents) {
    for (const auto& [cluster, agent] : agents) agent->RequestStop();
    agents.clear();  // Waits for each.
  }
  // Says once what is wrong with a folder.
  void Report(const std::string& cluster, const absl::Status& why) {
    if (reported_[cluster] == why) return;
    reported_[cluster] = why;
    base::LogWarning("a folder of --clusters-from is not the pair of a cluster",
                     {{"folder", cluster}, {"error", why}});
  }

  const config::AgentOptions& options_;
  // The loops of all agents work on the same threads.
  const std::shared_ptr<kube::WorkerPool> pool_ =
      std::make_shared<kube::WorkerPool>(base::RealClock());
  std::map<std::string, absl::Status> reported_;  // Used by the thread of Follow alone.
  mutable absl::Mutex mu_;
  Agents agents_ ABSL_GUARDED_BY(mu_);
};

bool IsOff(const std::string& address) { return address.empty() || address == "0"; }

base::HttpResponse Text(int code, std::string body) {
  return {.code = code, .content_type = "text/plain; version=0.0.4", .body = std::move(body)};
}

absl::StatusOr<std::unique_ptr<base::HttpServer>> Serve(const std::string& address,
                                                        const AgentFleet& fleet, bool metrics) {
  base::HttpServerOptions options;
  options.address = address;
  return base::HttpServer::Start(
      options,
      [&fleet, metrics](base::HttpRequest request, std::shared_ptr<base::HttpResponder> responder) {
        if (metrics && request.path == "/metrics")
          return responder->Send(Text(200, fleet.Metrics()));
        const bool is_probe =
            request.path == "/healthz" || request.path == "/livez" || request.path == "/readyz";
        if (!metrics && is_probe) return responder->Send(Text(200, "ok\n"));
        responder->Send(Text(404, "not found\n"));
      });
}

}  // namespace

absl::Status RunAgentFleet(const config::AgentOptions& options, const base::StopToken& stop) {
  const std::string& directory = options.agent.clusters_from;
  AgentFleet fleet(options);
  std::unique_ptr<base::HttpServer> health, metrics;
  if (const std::string& address = options.loops.health_probe_bind_address; !IsOff(address)) {
    ASSIGN_OR_RETURN(health, Serve(address, fleet, /*metrics=*/false));
  }
  if (const std::string& address = options.loops.metrics_bind_address; !IsOff(address)) {
    ASSIGN_OR_RETURN(metrics, Serve(address, fleet, /*metrics=*/true));
  }
  absl::Status last;
  do {
    const absl::StatusOr<std::map<std::string, ClusterPair>> pairs = ReadClusterPairs(directory);
    if (pairs.ok()) fleet.Follow(*pairs);
    if (!pairs.ok() && pairs.status() != last) {
      base::LogWarning("the clusters cannot be read; those that are known are served",
                       {{"error", pairs.status()}});
    }
    last = pairs.status();
  } while (base::RealClock().SleepFor(kBetweenLooks, stop));
  return absl::OkStatus();
}

}  // namespace cmd
