// Writes the bindings of dependencies: makes them, keeps them, and lets go of them.
#ifndef CONTROLLERS_DEPENDENCIES_ATTACHMENTS_H_
#define CONTROLLERS_DEPENDENCIES_ATTACHMENTS_H_

#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "absl/base/thread_annotations.h"
#include "absl/container/flat_hash_map.h"
#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/synchronization/mutex.h"
#include "absl/types/span.h"
#include "api/dependencies.h"
#include "base/stop_token.h"
#include "controllers/dependencies/attached_bindings.h"
#include "controllers/dependencies/left_clusters.h"
#include "kube/cache/cluster_client.h"
#include "kube/meta/object.h"
#include "kube/runtime/event_recorder.h"

namespace controllers {

// What a template needs.
struct Needs {
  absl::Span<const api::DependentReference> references;
  bool complete = true;  // False: it may need more, so nothing is let go.
};

// Thread-safe. Referrers may be worked on at the same time: two that write one attached binding get
// a conflict, which the second one's next pass resolves.
class Attachments {
 public:
  // `terminating` is for LookupsIn. REQUIRES: `client` and `recorder` outlive this object.
  // ResourceBindings are declared as read, with kReferrerIndex, and so is what LookupsIn reads.
  Attachments(kube::ClusterClient& client, kube::EventRecorder& recorder, StillIn terminating)
      : client_(client), recorder_(recorder), lookups_(LookupsIn(client, std::move(terminating))) {}

  // Writes the clusters of `referrer`, and those in which its template still is, into the bindings
  // that are attached to it. Returns whether one of them changed.
  absl::StatusOr<bool> FollowClusters(const kube::Object& referrer, const base::StopToken& stop);
  // Lets go of the attached bindings whose objects are not needed, and attaches the bindings of all
  // objects that are. An object that does not exist is passed over: DependencySource queues the
  // referrer when it is created. Goes on after an error; nothing is let go while a reference does
  // not say what it is about. Returns whether it wrote anything.
  absl::StatusOr<bool> Follow(const kube::ObjectPtr& referrer, const Needs& needs,
                              const base::StopToken& stop);
  // Returns whether a binding attached to `referrer` stays in a cluster only because its template
  // is being deleted there. No event reports the end of that.
  bool AwaitsMembers(const kube::Object& referrer) const;
  // Lets go of all bindings that are attached to `referrer`, which may not exist any more.
  absl::Status Release(const kube::ObjectKey& referrer, const base::StopToken& stop);
  // Forgets what has been reported about an attached binding that does not exist any more.
  void Forget(const kube::ObjectKey& attached);

 private:
  std::vector<kube::ObjectPtr> AttachedTo(const kube::ObjectKey& referrer) const;
  // Returns whether one of the references is about the object of the attached binding.
  struct FiledReferences;
  absl::StatusOr<bool> IsNeeded(const kube::Object& attached, const FiledReferences& references,
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

  // Records an event when what the referrers of an attached binding demand begins to differ, or
  // differs in another way, whether or not that changes the binding.
  void ReportConflict(const kube::Object& attached, std::optional<std::string> conflict);

  kube::ClusterClient& client_;
  kube::EventRecorder& recorder_;
  const Lookups lookups_;
  absl::Mutex mu_;
  // What has been reported about attached bindings whose referrers demand different things. After a
  // restart it is reported once more.
  absl::flat_hash_map<kube::ObjectKey, std::string> conflicts_ ABSL_GUARDED_BY(mu_);
};

}  // namespace controllers

#endif  // CONTROLLERS_DEPENDENCIES_ATTACHMENTS_H_
