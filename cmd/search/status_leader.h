// Lets one of several replicas write the status of ResourceRegistries.
#ifndef CMD_SEARCH_STATUS_LEADER_H_
#define CMD_SEARCH_STATUS_LEADER_H_

#include "base/clock.h"
#include "base/metrics.h"
#include "base/stop_token.h"
#include "kube/cache/cluster_client.h"
#include "kube/runtime/events.h"
#include "search/registry/status_conditions.h"

namespace cmd {

class StatusLeader {
 public:
  // REQUIRES: all outlive the object.
  struct Parts {
    search::StatusWriter::Parts writer;
    search::StatusWriter::Options options;
    kube::ClusterClient& control_plane;  // Has the Lease.
    kube::EventSink& events;
    metrics::Registry& registry;
  };
  explicit StatusLeader(const Parts& parts) : parts_(parts) {}

  // Takes part in the election, and writes while it leads, until stopped. A lost lease ends the
  // writing only: caches and requests do not depend on it. The lease is released at the end, so
  // that another replica goes on at once. Blocks.
  void Run(const base::StopToken& stop);

 private:
  const Parts parts_;
};

}  // namespace cmd

#endif  // CMD_SEARCH_STATUS_LEADER_H_
