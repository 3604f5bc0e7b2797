// The agents of a process that is the agent of many clusters.
//
// What happens to one does not reach the others: each has its own credentials, its own informers
// and its own bound of memory. Their loops and lists share threads, of which a slow cluster holds
// only as many as an agent of its own would have started, and what is the same for all.
#ifndef CMD_AGENT_FLEET_H_
#define CMD_AGENT_FLEET_H_

#include <map>
#include <memory>
#include <set>
#include <string>

#include "absl/base/thread_annotations.h"
#include "absl/status/status.h"
#include "absl/synchronization/mutex.h"
#include "base/metrics.h"
#include "base/stop_token.h"
#include "cmd/agent/cluster_pairs.h"
#include "cmd/agent/fleet_agent.h"
#include "config/agent_options.h"
#include "kube/runtime/leader_fence.h"
#include "kube/runtime/memory_watch.h"

namespace cmd {

class Fleet {
 public:
  // Each agent has the options but for its name and the kubeconfigs, and none of the addresses.
  // With a fence the process may act while that is open, and the agents have no leases of their
  // own. `start` is another one in tests.
  Fleet(const config::AgentOptions& options, std::shared_ptr<kube::LeaderFence> fence,
        StartAgentFn start = StartAgent);
  ~Fleet();  // Ends all agents and waits for them.

  // Makes the agents those of the pairs. Does not wait: an agent that has to end first, or because
  // its cluster is missing, is looked at again by the next call. A pair that is not usable leaves
  // its cluster as it is. Called on one thread.
  void Follow(const ClusterPairs& pairs);
  // Does the two parts of it: says what is wrong with pairs, once, and makes the agents.
  void ReportUnusable(const ClusterPairs& pairs);
  void Serve(const ClusterPairs& pairs);
  // Returns the clusters whose agents have not ended, or are stuck.
  std::set<std::string> Serving() const;
  // Returns whether an agent could not be ended in time, and may still write. It keeps its place:
  // the process has to end.
  bool IsStuck() const;
  // Asks all agents to end; Follow is not called any more.
  void RequestEnd();
  // Returns whether no agent runs any more, but for those that are stuck.
  bool HasEnded() const;

  // Returns the metrics of the process and of all agents as one page. Thread-safe.
  std::string Metrics() const;
  // Returns the metrics of the process, without those of the agents.
  metrics::Registry& registry() { return registry_; }
  const controllers::SharedParts& shared() const { return parts_.shared; }

 private:
  struct Member {
    std::unique_ptr<FleetAgent> agent;
    bool is_ending = false;
  };

  void End(const ClusterPairs& pairs) ABSL_EXCLUSIVE_LOCKS_REQUIRED(mu_);
  // Says once what is wrong with a pair.
  void Report(const std::string& cluster, const absl::Status& why);

  metrics::Registry registry_;
  FleetParts parts_;
  kube::MemoryWatch memory_;
  base::StopSource stop_;                         // Ends what follows the process.
  std::map<std::string, absl::Status> reported_;  // Used by the thread of Follow alone.
  mutable absl::Mutex mu_;
  std::map<std::string, Member> members_ ABSL_GUARDED_BY(mu_);
  bool has_memory_ended_ ABSL_GUARDED_BY(mu_) = false;
};

}  // namespace cmd

#endif  // CMD_AGENT_FLEET_H_
