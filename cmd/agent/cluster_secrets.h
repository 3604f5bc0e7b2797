// The clusters of --clusters-from-secrets: Secrets of the hosting cluster, each named after its
// cluster, with the keys karmada-kubeconfig and kubeconfig.
#ifndef CMD_AGENT_CLUSTER_SECRETS_H_
#define CMD_AGENT_CLUSTER_SECRETS_H_

#include <cstdint>
#include <map>
#include <memory>
#include <string>

#include "absl/status/status.h"
#include "base/clock.h"
#include "base/stop_token.h"
#include "cmd/agent/cluster_pairs.h"
#include "kube/cache/informer.h"
#include "kube/meta/object.h"

namespace cmd {

// Returns the pair of a Secret. Errors name the Secret and the key, and never what is in it.
ClusterPair PairOfSecret(const kube::Object& secret);

// Watches the Secrets. What is kept of them is bounded: of each Secret the two keys, with
// kLongestKubeconfig bytes each, and kMostBytes of all. Used by one thread.
class ClusterSecrets {
 public:
  static constexpr int64_t kMostBytes = int64_t{128} << 20;

  // REQUIRES: `informers` is for the Secrets alone, which take the whole of its budget.
  ClusterSecrets(kube::InformerSet& informers, const std::string& ns, const std::string& selector);

  absl::Status WaitForSync(base::SteadyTime deadline, const base::StopToken& stop);
  // Returns the pairs by the names of their clusters. A Secret is decoded once.
  ClusterPairs Read();
  // Returns whether Secrets may be missing for want of room: those that are not there are then not
  // known to be gone.
  bool LeavesOut() const { return secrets_->LeavesOut(); }

 private:
  struct Known {
    kube::ObjectPtr secret;
    ClusterPair pair;
  };

  std::shared_ptr<kube::Informer> secrets_;
  std::map<std::string, Known> known_;  // By the name of the Secret; as they were read last.
};

}  // namespace cmd

#endif  // CMD_AGENT_CLUSTER_SECRETS_H_
