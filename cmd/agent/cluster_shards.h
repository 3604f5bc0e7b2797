// Which of the clusters a replica serves when several share them.
//
// Each replica has a Lease of its own in the hosting cluster, which it renews (ReplicaLease), and
// each cluster has one that is not renewed: its holder is the replica that may act for the cluster,
// by the name of the replica's Lease, as long as that is valid.
//
//   karmada-agent-replica-<random>   holder: the replica; renewed every two seconds
//   karmada-agent-shard-<cluster>    holder: the name of a replica's Lease, or nobody
//
// A cluster goes to the replica that has the highest hash with it, of those that are alive. Nobody
// takes it from another one that is alive: that one ends its agent and gives the Lease of the
// cluster up. A replica is dead when its Lease has not changed for its duration by the clock of the
// one that looks. It is then removed, in the state in which it was seen, so that a renewal in
// between keeps it; a replica whose Lease has been removed has lost it for ever, and its fence has
// closed before (kube::LeaderFence). Only then its clusters are taken.
#ifndef CMD_AGENT_CLUSTER_SHARDS_H_
#define CMD_AGENT_CLUSTER_SHARDS_H_

#include <map>
#include <memory>
#include <set>
#include <string>
#include <vector>

#include "absl/status/status.h"
#include "absl/strings/string_view.h"
#include "absl/time/time.h"
#include "base/clock.h"
#include "base/stop_token.h"
#include "kube/cache/informer.h"
#include "kube/client/client.h"
#include "kube/meta/object.h"

namespace cmd {

// Returns the name for the Lease of a new replica.
std::string NewReplicaLease();

// Returns which of the replicas has the cluster, the same wherever it is asked. Each replica that
// is added or removed moves only its own part of the clusters. REQUIRES: there is one.
std::string OwnerOf(absl::string_view cluster, const std::set<std::string>& replicas);

class ClusterShards {
 public:
  struct Place {
    std::string ns;       // The namespace of the Leases.
    std::string replica;  // The name of this replica's Lease.
    // The duration of replicas' Leases, for one that has been removed by somebody else.
    absl::Duration lease_duration;
  };
  // REQUIRES: `client`, `clock` and `informers` outlive the object.
  ClusterShards(Place place, kube::Client& client, const base::Clock& clock,
                kube::InformerSet& informers);

  absl::Status WaitForSync(base::SteadyTime deadline, const base::StopToken& stop);
  // Returns which of the clusters this replica may serve now. It takes those that are free and its
  // own, and gives back those that it is not to serve and that are not in `serving`: the clusters
  // whose agents run or are just ending. Called again and again, on one thread; what could not be
  // written is tried again then.
  std::set<std::string> Share(const std::set<std::string>& clusters,
                              const std::set<std::string>& serving, const base::StopToken& stop);
  // Gives back all clusters. REQUIRES: no agent runs any more.
  void GiveAllBack(const base::StopToken& stop);

 private:
  struct Seen {
    std::string version;
    base::SteadyTime since;
  };

  // Finds out who is alive, and declares dead who is not.
  void LookAtReplicas(const base::StopToken& stop);
  bool IsAlive(const kube::Object& lease, base::SteadyTime now);
  // Returns whether the holder has nothing to do with its clusters any more.
  bool IsGone(const std::string& replica);
  absl::Status Take(const std::string& cluster, const base::StopToken& stop);
  // Returns the Leases of clusters that name this replica, held or left over from a write whose
  // answer was lost.
  std::vector<kube::Object> HeldLeases() const;
  absl::Status GiveBack(const std::string& cluster, const kube::Object& lease,
                        const base::StopToken& stop);
  // Logs the first failure of a kind.
  void Note(const std::string& cluster, const absl::Status& status);

  const Place place_;
  kube::Client& client_;
  const base::Clock& clock_;
  const std::shared_ptr<kube::Informer> leases_;
  std::map<std::string, Seen> seen_;                 // Replicas' Leases.
  std::set<std::string> alive_;                      // This one is in it.
  std::set<std::string> dead_;                       // Declared dead by this replica.
  std::map<std::string, base::SteadyTime> missing_;  // Holders without a Lease, and since when.
  std::map<std::string, kube::Object> held_;         // By cluster: its Lease as it was written.
  absl::StatusCode last_failure_ = absl::StatusCode::kOk;
};

}  // namespace cmd

#endif  // CMD_AGENT_CLUSTER_SHARDS_H_
