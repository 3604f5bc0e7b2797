// Writing the status of templates, of kinds with and without a status subresource.
#ifndef CONTROLLERS_BINDINGSTATUS_TEMPLATE_STATUS_H_
#define CONTROLLERS_BINDINGSTATUS_TEMPLATE_STATUS_H_

#include "absl/base/thread_annotations.h"
#include "absl/container/flat_hash_set.h"
#include "absl/status/status.h"
#include "absl/synchronization/mutex.h"
#include "base/json.h"
#include "base/stop_token.h"
#include "kube/cache/cluster_client.h"
#include "kube/meta/names.h"
#include "kube/meta/object.h"

namespace controllers {

// A kind whose definition has no status subresource (Argo's Application) has its status patched on
// the object; upstream fails there for ever. That a kind is such a one is learned from the server:
// its answer to the first write is the same as for an object that is gone, so it is asked whether
// the object is there. Thread-safe.
class TemplateStatus {
 public:
  struct Target {
    const kube::Resource& resource;
    const kube::ObjectPtr& object;
  };

  // REQUIRES: the client outlives this.
  explicit TemplateStatus(kube::ClusterClient& client) : client_(client) {}

  // Makes `status` that of the object; nothing is sent when it is so already. Nobody else's changes
  // hinder it. kNotFound when the object is gone; a terminal kFailedPrecondition when the server
  // keeps no status of this kind; other codes as kube::Client.
  absl::Status Write(const Target& target, const json::Value& status, const base::StopToken& stop);

 private:
  enum class Where { kSubresource, kObject };
  absl::StatusOr<kube::ObjectPtr> Send(const Target& target, const kube::Object& after, Where where,
                                       const base::StopToken& stop);
  bool LacksSubresource(const kube::Gvk& gvk) const;
  void Learn(const kube::Gvk& gvk, bool lacks_subresource);

  kube::ClusterClient& client_;
  mutable absl::Mutex mu_;
  absl::flat_hash_set<kube::Gvk> without_subresource_ ABSL_GUARDED_BY(mu_);
};

}  // namespace controllers

#endif  // CONTROLLERS_BINDINGSTATUS_TEMPLATE_STATUS_H_
