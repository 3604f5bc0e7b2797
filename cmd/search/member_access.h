// How this server reaches member clusters, kept true to the Clusters and Secrets of the control
// plane.
#ifndef CMD_SEARCH_MEMBER_ACCESS_H_
#define CMD_SEARCH_MEMBER_ACCESS_H_

#include <functional>
#include <memory>
#include <set>
#include <string>

#include "absl/base/thread_annotations.h"
#include "absl/status/statusor.h"
#include "absl/synchronization/mutex.h"
#include "base/clock.h"
#include "base/stop_token.h"
#include "cmd/search/referenced_secrets.h"
#include "kube/cache/informer.h"
#include "kube/client/client.h"
#include "kube/runtime/cluster_set.h"

namespace cmd {

// Thread-safe.
class MemberAccess : public kube::ClusterConfigSource {
 public:
  // REQUIRES: all outlive the object.
  struct Parts {
    kube::Informer& clusters;  // Has all Clusters of the control plane.
    kube::Client& client;
    std::shared_ptr<kube::InformerThreads> threads;
    const base::Clock& clock;
  };
  // Called one call at a time, on Run's thread.
  struct Callbacks {
    // The Cluster or a Secret that it names has changed.
    std::function<void(const std::string& cluster)> changed;
    std::function<void(const std::string& cluster)> left;
    // A Secret that SetOtherSecrets has named was added, changed or removed.
    std::function<void(const kube::ObjectKey& key)> other_secret;
  };
  explicit MemberAccess(const Parts& parts);
  ~MemberAccess() override;

  absl::StatusOr<kube::ConnectionConfig> ConfigFor(const std::string& cluster) override;
  // Returns what ConfigFor returns for this Cluster, which the caller has read.
  absl::StatusOr<kube::ConnectionConfig> ConfigOf(const kube::Object& cluster) const;
  // Return nullptr when there is none.
  kube::ObjectPtr ClusterOf(const std::string& name) const;
  kube::ObjectPtr SecretOf(const kube::ObjectKey& key) const { return secrets_.Find(key); }
  // Returns why SecretOf does not know the Secrets of the namespace; OK when nothing is wrong.
  absl::Status ErrorOfSecrets(const std::string& ns) const { return secrets_.ErrorOf(ns); }
  // Returns whether a Cluster names the Secret: it has the rights of this program in a member.
  bool IsOfMember(const kube::ObjectKey& secret) const;
  // Secrets that are not named by Clusters, of which SecretOf has to know, too. Does not block.
  void SetOtherSecrets(std::set<kube::ObjectKey> keys);
  // Returns whether all Clusters and the Secrets that are named have been read once, and each
  // Cluster has been reported as changed since. What is named later does not matter: everything
  // else is served meanwhile.
  bool HasSynced() const;

  // Follows the changes until stopped. Blocks.
  void Run(const Callbacks& callbacks, const base::StopToken& stop);

 private:
  struct Work {
    bool references = false;
    std::set<std::string> clusters;
    std::set<kube::ObjectKey> secrets;
    bool empty() const { return !references && clusters.empty() && secrets.empty(); }
  };
  void NoteCluster(const kube::ObjectPtr& before, const kube::ObjectPtr& after);
  Work Take(const base::StopToken& stop);
  void UpdateReferences();
  void Report(const Work& work, const Callbacks& callbacks) const;
  // Reports each Cluster, now that all Secrets have been read.
  void ReportFirst(const Callbacks& callbacks);

  const Parts parts_;
  mutable absl::Mutex mu_;
  Work work_ ABSL_GUARDED_BY(mu_);
  std::set<kube::ObjectKey> others_ ABSL_GUARDED_BY(mu_);
  bool has_synced_ ABSL_GUARDED_BY(mu_) = false;
  ReferencedSecrets secrets_;
  int64_t handler_ = 0;
};

}  // namespace cmd

#endif  // CMD_SEARCH_MEMBER_ACCESS_H_
