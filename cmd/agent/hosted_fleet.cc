// A manager elects this process, or keeps the Lease of the replica, in the hosting cluster; while
// it holds it, the fence of all agents is open and FleetLoop runs. The loop looks at the Secrets
// once a second, which are in a cache that a watch keeps, and makes the set of agents equal to
// them. At its end it gives each cluster back as soon as its agent has ended, so that one that
// hangs holds up no other one, and only then the manager gives the Lease up. The agents cut their
// calls off, and end, well before the manager does that.
//
// The hand-over takes twenty seconds at most, so that it is over before the manager's graceful
// period; what has not been given back by then is free when the Lease of the process is. An agent
// that does not end even then may still write. Nobody else may act for its cluster as long
// as it may, so the process ends at once, and its Leases by themselves.

#include "cmd/agent/hosted_fleet.h"

#include <unistd.h>

#include <memory>
#include <optional>
#include <set>
#include <string>
#include <utility>

#include "absl/strings/str_cat.h"
#include "api/programs.h"
#include "base/clock.h"
#include "base/log.h"
#include "base/metrics.h"
#include "base/status.h"
#include "base/stop_limit.h"
#include "base/stop_token.h"
#include "base/timers.h"
#include "cmd/agent/agent_fleet.h"
#include "cmd/agent/cluster_secrets.h"
#include "cmd/agent/cluster_shards.h"
#include "cmd/agent/fleet.h"
#include "config/version.h"
#include "controllers/process/loop_parts.h"
#include "kube/cache/cluster_client.h"
#include "kube/cache/informer.h"
#include "kube/client/client.h"
#include "kube/discovery/rest_mapper.h"
#include "kube/http/http_transport.h"
#include "kube/kubeconfig/kubeconfig.h"
#include "kube/runtime/events.h"
#include "kube/runtime/leader_fence.h"
#include "kube/runtime/manager.h"

namespace cmd {
namespace {

constexpr absl::Duration kBetweenLooks = absl::Seconds(1);
constexpr absl::Duration kBetweenHandOvers = absl::Milliseconds(100);
// How long Leases of clusters are given back. It is less than the graceful period, whatever the
// hosting cluster does.
constexpr absl::Duration kLongestHandOver = absl::Seconds(20);
constexpr char kHosting[] = "hosting";
constexpr int kFailed = 1;

kube::ClientOptions ClientOf(const std::string& host) {
  kube::ClientOptions client;
  client.name = kHosting;
  client.host = host;
  client.user_agent = config::UserAgent(api::kAgent);
  return client;
}

kube::ManagerOptions ManagerOf(const config::AgentOptions& options, const std::string& lease) {
  const config::LeaderElection& election = options.loops.leader_election;
  kube::ManagerOptions manager;
  manager.health_address = manager.metrics_address = "0";
  manager.leader_elect = election.enabled;
  manager.lease_namespace = options.agent.hosting_namespace;
  manager.lease_name = lease;
  // Others remove it when they take its clusters.
  manager.lease_is_own = true;
  manager.lease_duration = election.lease_duration;
  manager.renew_deadline = election.renew_deadline;
  manager.retry_period = election.retry_period;
  manager.release_lease = true;
  manager.cache_sync_timeout = options.loops.clusters.cache_sync_timeout;
  return manager;
}

class FleetLoop : public kube::Runnable {
 public:
  struct Parts {
    Fleet& fleet;
    ClusterSecrets& secrets;
    ClusterShards* shards;  // nullptr without an election.
    kube::Manager& manager;
    const config::AgentFlagValues& flags;
  };
  explicit FleetLoop(const Parts& parts) : parts_(parts) {}

  std::string name() const override { return "clusters of Secrets"; }
  absl::Status Run(const base::StopToken& stop) override {
    const absl::Status ended = Follow(stop);
    HandOver();
    if (parts_.fleet.IsStuck()) {
      base::LogError("an agent has not ended in time; the process ends");
      _exit(kFailed);
    }
    return ended;
  }

 private:
  absl::Status Follow(const base::StopToken& stop) {
    const base::Clock& clock = parts_.manager.clock();
    const base::SteadyTime deadline =
        clock.SteadyNow() + parts_.manager.options().cache_sync_timeout;
    RETURN_IF_ERROR(parts_.secrets.WaitForSync(deadline, stop));
    if (parts_.shards != nullptr) {
      RETURN_IF_ERROR(parts_.shards->WaitForSync(deadline, stop));
    }
    do {
      Look(stop);
      if (parts_.fleet.IsStuck()) {
        return absl::DeadlineExceededError("an agent has not ended in time");
      }
    } while (clock.SleepFor(UntilNextLook(), stop));
    return absl::OkStatus();
  }

  absl::Duration UntilNextLook() const {
    const bool has_more = parts_.shards != nullptr && parts_.shards->HasMore();
    return has_more ? absl::ZeroDuration() : kBetweenLooks;
  }

  void HandOver() {
    const base::Clock& clock = parts_.manager.clock();
    base::StopSource late;
    base::Timers timers(clock);
    timers.After(kLongestHandOver, [&late] { late.request_stop(); });
    parts_.fleet.RequestEnd();
    if (parts_.shards != nullptr) parts_.shards->Leave(late.get_token());
    bool have_ended = false;
    while (!have_ended) {
      have_ended = parts_.fleet.HasEnded();
      // The writes of a process that has lost its Lease are refused.
      if (parts_.shards != nullptr && !late.stop_requested()) {
        parts_.shards->GiveBackBut(parts_.fleet.Serving(), late.get_token());
      }
      if (!have_ended) clock.SleepFor(kBetweenHandOvers, base::StopToken());
    }
  }

  void Look(const base::StopToken& stop) {
    ClusterPairs pairs = parts_.secrets.Read();
    const std::set<std::string> serving = parts_.fleet.Serving();
    if (parts_.secrets.LeavesOut()) {
      // A Secret that is not there may have had no room.
      for (const std::string& cluster : serving) {
        pairs.try_emplace(
            cluster, ClusterPair{"", "", absl::UnavailableError("its Secret is not in the cache")});
      }
    }
    // Also those of clusters that nobody has served yet, and that no process takes.
    parts_.fleet.ReportUnusable(pairs);
    ReportIfEmpty(pairs.empty());
    if (parts_.shards != nullptr) {
      ClusterShards::Wanted wanted;
      wanted.serving = serving;
      for (const auto& [cluster, pair] : pairs) {
        const bool is_served = serving.contains(cluster);
        if (pair.usable.ok() || is_served) wanted.clusters.insert(cluster);
        if (!pair.usable.ok() && is_served) wanted.staying.insert(cluster);
      }
      const std::set<std::string> mine = parts_.shards->Share(wanted, stop);
      std::erase_if(pairs, [&mine](const auto& one) { return !mine.contains(one.first); });
    }
    parts_.fleet.Serve(pairs);
  }

  // A misspelt label would be one that nobody notices.
  void ReportIfEmpty(bool is_empty) {
    if (std::exchange(was_empty_, is_empty) == is_empty || !is_empty) return;
    base::LogWarning(
        "no Secret has the labels of --clusters-from-secrets; one that gets them is "
        "served",
        {{"labels", parts_.flags.clusters_from_secrets},
         {"namespace", parts_.flags.hosting_namespace}});
  }

  const Parts parts_;
  bool was_empty_ = false;
};

}  // namespace

absl::StatusOr<HostingConnections> ConnectHosting(const config::AgentOptions& options) {
  absl::StatusOr<kube::ConnectionConfig> config =
      kube::LoadConnectionConfig({options.agent.hosting_kubeconfig, ""});
  RETURN_IF_ERROR(base::Annotate(config.status(), "--hosting-kubeconfig"));
  // Names of members that nobody answers must not delay the Leases.
  config->urgent = true;
  HostingConnections connections;
  connections.host = kube::HostOf(config->server);
  ASSIGN_OR_RETURN(connections.loops, kube::NewHttpTransport(*config));
  ASSIGN_OR_RETURN(connections.leases, kube::NewHttpTransport(*config));
  return connections;
}

absl::Status RunHostedFleet(const config::AgentOptions& options, const HostingConnections& hosting,
                            const base::StopToken& stop) {
  const base::Clock& clock = base::RealClock();
  const auto fence = std::make_shared<kube::LeaderFence>(clock);
  Fleet fleet(options, fence);
  ASSIGN_OR_RETURN(const FleetServers servers,
                   ServeFleet(options.loops, [&fleet] { return fleet.Metrics(); }));
  metrics::Registry& registry = fleet.registry();
  const kube::ClientOptions of_client = ClientOf(hosting.host);
  kube::Client client(fence->Over(hosting.loops), of_client, clock, &registry);
  kube::ClientOptions of_leases = of_client;
  of_leases.timeout = options.loops.leader_election.renew_deadline / 2;
  kube::Client lease_client(hosting.leases, of_leases, clock, &registry);
  kube::Client shard_client(fence->Over(hosting.loops), of_leases, clock, &registry);
  kube::RestMapper mapper(client, clock);
  kube::InformerSet informers(client, clock, fleet.shared().informer_threads);
  // Those of Secrets have a bound, and it must not be seen as gone what has no room there.
  kube::InformerSet lease_informers(client, clock, fleet.shared().informer_threads);
  kube::ClusterClient cluster(client, mapper, informers);
  const std::unique_ptr<kube::EventSink> events = kube::NewNullEventSink();
  const config::AgentFlagValues& flags = options.agent;
  const std::string lease = flags.shard_clusters ? NewReplicaLease(flags.clusters_from_secrets)
                                                 : FleetLease(flags.clusters_from_secrets);
  kube::Manager manager(ManagerOf(options, lease), cluster, *events, clock, registry);
  manager.UseForElection(lease_client);
  manager.UseFence(*fence);
  manager.UsePool(fleet.shared().pool);
  ClusterSecrets secrets(informers, flags.hosting_namespace, flags.clusters_from_secrets);
  std::optional<ClusterShards> shards;
  if (options.loops.leader_election.enabled) {
    shards.emplace(ClusterShards::Place{flags.hosting_namespace, lease,
                                        options.loops.leader_election.lease_duration},
                   shard_client, clock, lease_informers);
  }
  manager.Add(std::make_unique<FleetLoop>(
      FleetLoop::Parts{fleet, secrets, shards.has_value() ? &*shards : nullptr, manager, flags}));
  const absl::Status ended = manager.Run(stop);
  if (absl::IsDeadlineExceeded(ended)) {
    // Threads that outlived the graceful period use what would be destroyed here.
    base::LogError("karmada-agent ends", {{"error", ended}});
    _exit(kFailed);
  }
  fence->Close();
  base::EndProcessAfter(controllers::kStopLimit, 1);
  informers.Stop();
  lease_informers.Stop();
  return ended;
}

}  // namespace cmd
