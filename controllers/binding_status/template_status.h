// Writes the status of templates, of kinds with and without a status subresource.
#ifndef CONTROLLERS_BINDING_STATUS_TEMPLATE_STATUS_H_
#define CONTROLLERS_BINDING_STATUS_TEMPLATE_STATUS_H_

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

// The status of a kind whose definition has no status subresource (Argo's Application) is patched
// on the object; upstream fails there for ever. Which kinds these are is learned from the server:
// when it answers the first write as it would for an object that is gone, it is asked whether the
// object exists. Thread-safe.
class TemplateStatus {
 public:
  struct Target {
    const kube::Resource& resource;
    const kube::ObjectPtr& object;
  };

  // REQUIRES: `client` outlives this object.
  explicit TemplateStatus(kube::ClusterClient& client) : client_(client) {}

  // Sets the object's status to `status`; nothing is sent when it is the same already. There is no
  // precondition, so concurrent changes by others cause no conflict. kNotFound when the object is
  // gone; a terminal kFailedPrecondition when the server keeps no status of this kind; other codes
  // as from kube::Client. The condition SuccessCriteriaMet of a Job is left out for a server that
  // refuses it: that of Kubernetes v1.30, while those since v1.32 refuse Complete without it.
  absl::Status Write(const Target& target, const json::Value& status, const base::StopToken& stop);

 private:
  enum class Where { kSubresource, kObject };
  absl::Status WriteAsItIs(const Target& target, const json::Value& status,
                           const base::StopToken& stop);
  absl::StatusOr<kube::ObjectPtr> Send(const Target& target, const kube::Object& after, Where where,
                                       const base::StopToken& stop);
  bool LacksSubresource(const kube::Gvk& gvk) const;
  void Learn(const kube::Gvk& gvk, bool lacks_subresource);

  kube::ClusterClient& client_;
  mutable absl::Mutex mu_;
  absl::flat_hash_set<kube::Gvk> without_subresource_ ABSL_GUARDED_BY(mu_);
};

}  // namespace controllers

#endif  // CONTROLLERS_BINDING_STATUS_TEMPLATE_STATUS_H_
