// Processes of karmada-agent that serve the clusters of Secrets, on simulated servers.
//
// The control plane hosts the processes as well. Nobody runs beside them: the fixture accepts
// clusters as the cluster controller does, and makes Works as the binding controller does.
#ifndef TESTS_AGENTS_HOSTED_H_
#define TESTS_AGENTS_HOSTED_H_

#include <cstddef>
#include <functional>
#include <map>
#include <memory>
#include <set>
#include <string>
#include <vector>

#include "base/json.h"
#include "kube/client/client.h"
#include "sandbox/fleet.h"
#include "tests/support/child_process.h"
#include "tests/support/temp_directory.h"

namespace tests {

class Hosted {
 public:
  explicit Hosted(int clusters);

  const std::vector<std::string>& clusters() const { return clusters_; }
  kube::Client& plane() { return *clients_.at("karmada"); }
  kube::Client& member(const std::string& cluster) { return *clients_.at(cluster); }
  sandbox::ApiServer& host();
  sandbox::ApiServer& server(const std::string& cluster) { return *fleet_->member(cluster); }
  // Gives the cluster a Secret, another one if it has one. The kubeconfigs are good ones unless
  // given.
  void PutSecret(const std::string& cluster, const std::string& member_kubeconfig = "");
  // Changes parts of the cluster's Secret, which has one.
  void PatchSecret(const std::string& cluster, const json::Value& patch);
  // Makes the pair of the cluster one that is not usable.
  void BreakSecret(const std::string& cluster);
  // Gives it other credentials for the control plane.
  void ReplaceCredentials(const std::string& cluster);
  void RemoveSecret(const std::string& cluster);
  void PutSecrets();
  // Adds a Work with a ConfigMap of this name, and of about this size.
  void PutWork(const std::string& cluster, const std::string& name, size_t bytes = 0);
  // Adds a ConfigMap to the cluster that looks like one of Karmada's.
  void PutLarge(const std::string& cluster, const std::string& name, size_t bytes);
  bool Has(const std::string& cluster, const std::string& config_map);

  std::unique_ptr<ChildProcess> Start(const std::string& name,
                                      const std::vector<std::string>& flags = {});
  std::string Log(const std::string& name) const;
  // Waits as long as a busy machine needs; accepts clusters meanwhile.
  bool Eventually(const std::function<bool()>& holds);
  bool IsReady(const std::string& cluster);
  // Takes it out of the control plane, whatever it has there.
  void RemoveCluster(const std::string& cluster);
  // Registers a cluster of this identity (spec.id) under the name, as its agent would.
  void PutCluster(const std::string& cluster, const std::string& id);
  // Returns the identity of the cluster that is registered.
  std::string IdOf(const std::string& cluster);
  bool AllReady();
  // Returns who serves each cluster by its Lease; only clusters that somebody serves.
  std::map<std::string, std::string> Holders();
  // Returns the names of the replicas that serve something.
  std::set<std::string> Serving();

 private:
  std::string LogFile(const std::string& name) const;
  void Accept();

  TempDirectory directory_;
  std::unique_ptr<sandbox::Fleet> fleet_;
  std::vector<std::string> clusters_;
  std::map<std::string, std::unique_ptr<kube::Client>> clients_;
};

}  // namespace tests

#endif  // TESTS_AGENTS_HOSTED_H_
