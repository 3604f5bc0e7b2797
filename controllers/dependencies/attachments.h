// Writes the bindings of dependencies: makes them, keeps them, lets them go.
#ifndef CONTROLLERS_DEPENDENCIES_ATTACHMENTS_H_
#define CONTROLLERS_DEPENDENCIES_ATTACHMENTS_H_

#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/types/span.h"
#include "api/dependencies.h"
#include "base/stop_token.h"
#include "controllers/dependencies/attached_bindings.h"
#include "kube/cache/cluster_client.h"
#include "kube/meta/object.h"
#include "kube/runtime/event_recorder.h"

namespace controllers {

// Thread-safe. Referrers may be worked on at the same time: two that write one attached binding get
// a conflict, which the second one's next pass resolves.
class Attachments {
 public:
  // REQUIRES: `client` and `recorder` outlive this object. ResourceBindings are declared as read,
  // with kReferrerIndex.
  Attachments(kube::ClusterClient& client, kube::EventRecorder& recorder)
      : client_(client), recorder_(recorder) {}

  // Writes the clusters of `referrer` into the bindings that are attached to it. Returns whether
  // one of them changed.
  absl::StatusOr<bool> FollowClusters(const kube::Object& referrer, const base::StopToken& stop);
  // Lets go of the attached bindings whose objects are none of `references`, and attaches the
  // bindings of all objects that are. An object that does not exist is passed over:
  // DependencySource queues the referrer when it comes. Goes on after an error. Returns whether it
  // wrote anything.
  absl::StatusOr<bool> Follow(const kube::ObjectPtr& referrer,
                              absl::Span<const api::DependentReference> references,
                              const base::StopToken& stop);
  // Lets go of all bindings that are attached to `referrer`, which may not exist any more.
  absl::Status Release(const kube::ObjectKey& referrer, const base::StopToken& stop);

 private:
  std::vector<kube::ObjectPtr> AttachedTo(const kube::ObjectKey& referrer) const;
  // Returns whether one of the references is about the object of the attached binding.
  absl::StatusOr<bool> IsNeeded(const kube::Object& attached,
                                absl::Span<const api::DependentReference> references,
                                const base::StopToken& stop);
  absl::StatusOr<bool> DetachUnneeded(const kube::Object& referrer,
                                      absl::Span<const api::DependentReference> references,
                                      const base::StopToken& stop);
  // Attach and Detach return whether they wrote anything.
  absl::StatusOr<bool> AttachAll(const kube::ObjectPtr& referrer,
                                 const api::DependentReference& reference,
                                 const base::StopToken& stop);
  absl::StatusOr<bool> Attach(const kube::ObjectPtr& referrer, const kube::Object& object,
                              const base::StopToken& stop);
  absl::StatusOr<bool> Detach(const kube::ObjectPtr& attached, const kube::ObjectKey& referrer,
                              const base::StopToken& stop);
  FindBinding Finder() const;

  kube::ClusterClient& client_;
  kube::EventRecorder& recorder_;
};

}  // namespace controllers

#endif  // CONTROLLERS_DEPENDENCIES_ATTACHMENTS_H_
