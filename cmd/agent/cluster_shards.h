// Which of the clusters a process serves, so that none has two agents.
//
// A process that may act holds a Lease in the hosting cluster, which it renews (kube::Manager), and
// each cluster has one that is not renewed: its holder is the process that may act for the cluster,
// by the name of that process's Lease, as long as that is valid.
//
//   karmada-agent-replica-<fleet>-<random>  of a replica that shares the clusters with others
//   karmada-agent-fleet-<fleet>             of the one process that serves all of them
//   karmada-agent-shard-<cluster>           holder: the name of one of those, or nobody
//
// <fleet> stands for the selector of the Secrets: processes with another one have other clusters,
// and are not counted. The Leases of clusters have the same names for all: while a selector is
// changed, or the sharing of clusters is turned on or off, processes of both kinds run, and each
// cluster stays with the one that has it.
//
// A cluster goes to the replica that has the highest hash with it, of those of the fleet that are
// alive and do not end just now, which an annotation of their Leases says. Nobody takes it from
// another process that is alive: that one ends its agent and gives the Lease of the cluster up. A
// process is dead when its Lease has not changed for its duration by the clock of the one that
// looks. The Lease is then removed, in the state in which it was seen, so that a renewal in between
// keeps it; a process whose Lease has been removed has lost it for ever, and its fence has closed
// before (kube::LeaderFence). Only then its clusters are taken. A Lease that anybody else removes,
// of a process or of a cluster, counts as held until its duration is over.
#ifndef CMD_AGENT_CLUSTER_SHARDS_H_
#define CMD_AGENT_CLUSTER_SHARDS_H_

#include <cstdint>
#include <map>
#include <memory>
#include <set>
#include <string>
#include <vector>

#include "absl/base/thread_annotations.h"
#include "absl/status/status.h"
#include "absl/strings/string_view.h"
#include "absl/synchronization/mutex.h"
#include "absl/time/time.h"
#include "base/clock.h"
#include "base/stop_token.h"
#include "cmd/agent/lease_refusals.h"
#include "kube/cache/informer.h"
#include "kube/client/client.h"
#include "kube/meta/object.h"

namespace cmd {

// Return the names for the Lease of a new replica, and for that of the process which serves all
// clusters of the selector.
std::string NewReplicaLease(absl::string_view selector);
std::string FleetLease(absl::string_view selector);

// Returns which of the replicas has the cluster, the same wherever it is asked. Each replica that
// is added or removed moves only its own part of the clusters. REQUIRES: there is one.
std::string OwnerOf(absl::string_view cluster, const std::set<std::string>& replicas);

class ClusterShards {
 public:
  struct Place {
    std::string ns;     // The namespace of the Leases.
    std::string lease;  // The name of this process's Lease, by one of the functions above.
    // The duration of processes' Leases, for one that has been removed by somebody else.
    absl::Duration lease_duration;
  };
  // REQUIRES: `client`, `clock` and `informers` outlive the object.
  ClusterShards(Place place, kube::Client& client, const base::Clock& clock,
                kube::InformerSet& informers);
  ~ClusterShards();

  absl::Status WaitForSync(base::SteadyTime deadline, const base::StopToken& stop);
  struct Wanted {
    std::set<std::string> clusters;  // That are there.
    std::set<std::string> serving;   // Those whose agents run, or are just ending.
    // Those that stay with this process if it has them, because another one could not begin.
    std::set<std::string> staying;
  };
  // Returns which of the clusters this process may serve now. It takes those that are free and its
  // own, and gives back those that it is not to serve and that are not in `serving`. Called again
  // and again, on one thread; what could not be written is tried again then.
  std::set<std::string> Share(const Wanted& wanted, const base::StopToken& stop);
  // Returns whether the last call has left some for the next one, which should follow at once; not
  // while the server refuses to write Leases.
  bool HasMore() const { return has_more_; }
  // Says that this process ends, so that the replicas with which it shares take what it gives back.
  void Leave(const base::StopToken& stop);
  // Gives back the clusters that are not in `serving`, to the replicas with which it shares, at the
  // end of the process; several at once. What is not written before `stop` is free when the Lease
  // of the process is.
  void GiveBackBut(const std::set<std::string>& serving, const base::StopToken& stop);

 private:
  struct Seen {
    std::string version;
    base::SteadyTime since;
  };

  struct Held {
    kube::Object lease;     // What this process has written.
    bool was_seen = false;  // The copy of the Leases has had it.
  };

  // A Lease of a cluster that has been removed while another process held it.
  struct Removed {
    std::string holder;
    base::SteadyTime since;
  };

  bool IsMine(const std::string& cluster, const Wanted& wanted) const;
  // Finds out who is alive, and declares dead who is not.
  void LookAtProcesses(const base::StopToken& stop);
  void LookAt(const kube::Object& process, const base::StopToken& stop);
  bool IsAlive(const kube::Object& lease, base::SteadyTime now);
  // Finds out which Leases of clusters somebody else has changed or removed.
  void LookAtHeld(const base::StopToken& stop);
  // Returns whether the holder has nothing to do with its clusters any more.
  bool IsGone(const std::string& process);
  // REQUIRES: its Lease is free.
  absl::Status Take(const std::string& cluster, const base::StopToken& stop);
  // Returns the Leases of clusters that name this process, held or left over from a write whose
  // answer was lost.
  std::vector<kube::Object> HeldLeases() const;
  // Makes the Lease free, as it was written or seen. Thread-safe.
  absl::Status Free(const kube::Object& lease, const base::StopToken& stop);
  // Makes the Lease free, or removes it.
  absl::Status GiveBack(const std::string& cluster, const kube::Object& lease, bool removes,
                        const base::StopToken& stop);
  // Makes the Lease of a cluster again that somebody has removed.
  void MakeAgain(Held& held, const base::StopToken& stop);
  // Returns whether nobody else may act for the cluster of this Lease.
  bool IsFree(const std::string& lease);
  void NoteRemoved(const kube::Object& lease);
  // Returns whether a Lease that is not there was removed under a process that may still act.
  bool WasRemovedUnderHolder(const std::string& lease);

  const Place place_;
  const std::string peers_;  // How the Leases begin of the replicas with which it shares.
  kube::Client& client_;
  const base::Clock& clock_;
  const std::shared_ptr<kube::Informer> leases_;
  std::map<std::string, Seen> seen_;                 // Processes' Leases.
  std::set<std::string> alive_;                      // This one and its peers.
  std::map<std::string, std::string> dead_;          // Leases removed by this process: their uids.
  std::map<std::string, base::SteadyTime> missing_;  // Holders without a Lease, and since when.
  std::map<std::string, Held> held_;                 // By cluster.
  LeaseRefusals refusals_;
  bool has_more_ = false;
  absl::Mutex mu_;
  std::map<std::string, Removed> removed_ ABSL_GUARDED_BY(mu_);  // Leases of clusters.
  int64_t handler_;
};

}  // namespace cmd

#endif  // CMD_AGENT_CLUSTER_SHARDS_H_
