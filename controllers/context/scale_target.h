// Reads and changes how many replicas an object of the control plane wants, whatever its kind: over
// its scale subresource. For the loops that scale templates.
//
//   ASSIGN_OR_RETURN(const ScaleTarget target, ScaleTargetOf(autoscaler));
//   ASSIGN_OR_RETURN(const kube::ObjectPtr scale, GetScale(client, target, stop));
//   if (ScaleView(*scale).Replicas() < 3) {
//     RETURN_IF_ERROR(SetReplicas(client, {target, scale}, 3, stop));
//   }
#ifndef CONTROLLERS_CONTEXT_SCALE_TARGET_H_
#define CONTROLLERS_CONTEXT_SCALE_TARGET_H_

#include <cstdint>
#include <string>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/time/time.h"
#include "base/stop_token.h"
#include "kube/cache/cluster_client.h"
#include "kube/meta/names.h"
#include "kube/meta/object.h"

namespace controllers {

// The object that an autoscaler scales.
struct ScaleTarget {
  kube::Gvk gvk;
  kube::ObjectKey key;
  // Returns "Deployment default/web", for logs and messages.
  std::string Describe() const;
};

// Returns what spec.scaleTargetRef of the autoscaler names, in the autoscaler's namespace.
// kInvalidArgument if its apiVersion is malformed, or kind or name are missing.
absl::StatusOr<ScaleTarget> ScaleTargetOf(const kube::Object& autoscaler);

// A view of a Scale (autoscaling/v1). REQUIRES: the object outlives the view.
class ScaleView {
 public:
  explicit ScaleView(const kube::Object& scale) : scale_(scale) {}
  // The replicas that are wanted, and those that there are. 0 when absent.
  int64_t Replicas() const { return scale_.spec()["replicas"].AsInt(); }
  int64_t StatusReplicas() const { return scale_.status()["replicas"].AsInt(); }
  // The text of the selector of the pods; "" when absent.
  absl::string_view Selector() const { return scale_.status()["selector"].AsString(); }

 private:
  const kube::Object& scale_;
};

// Reads the Scale of the target by a live GET. kFailedPrecondition, with an error that names the
// kind, if objects of the kind have no scale subresource; kube::IsGone holds if the object does not
// exist, kube::IsNoSuchKind if the server does not serve the kind; other errors as those of Client.
// `timeout` limits the call where it is shorter than the client's own.
absl::StatusOr<kube::ObjectPtr> GetScale(kube::ClusterClient& client, const ScaleTarget& target,
                                         const base::StopToken& stop,
                                         absl::Duration timeout = absl::InfiniteDuration());

// Returns an error of GetScale or SetReplicas with upstream's message (kube::InGoWords). `verb` is
// the HTTP method in small letters.
absl::Status InUpstreamWords(kube::ClusterClient& client, const ScaleTarget& target,
                             absl::string_view verb, const absl::Status& error);

struct ScaleOf {
  const ScaleTarget& target;
  const kube::ObjectPtr& scale;  // What GetScale returned.
};
// Patches spec.replicas of the scale subresource; sends nothing if the Scale has them already.
// kube::IsConflict holds if the object has changed since the Scale was read: read it again.
absl::Status SetReplicas(kube::ClusterClient& client, const ScaleOf& scale, int64_t replicas,
                         const base::StopToken& stop);

}  // namespace controllers

#endif  // CONTROLLERS_CONTEXT_SCALE_TARGET_H_
