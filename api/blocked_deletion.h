// Deletions that do not end: when somebody has to know of one, and what the event says.
#ifndef API_BLOCKED_DELETION_H_
#define API_BLOCKED_DELETION_H_

#include <optional>
#include <string>

#include "absl/strings/string_view.h"
#include "absl/time/time.h"
#include "absl/types/span.h"
#include "kube/meta/object.h"

namespace api {

// How long finalizers may hold up a deletion before that is an event.
inline constexpr absl::Duration kDeletionPatience = absl::Minutes(5);

// How long the scheduler has, from when a cluster began to be removed, to take it out of the
// bindings that name it.
inline constexpr absl::Duration kSchedulerPatience = absl::Minutes(15);

struct BlockedDeletion {
  absl::Duration due;      // How long from now until it is an event; zero or less when it is one.
  absl::Duration age;      // How long ago the deletion began.
  std::string since;       // metadata.deletionTimestamp.
  std::string finalizers;  // "a, b".

  friend bool operator==(const BlockedDeletion& a, const BlockedDeletion& b) {
    return a.since == b.since && a.finalizers == b.finalizers;
  }
};

// Returns nullopt unless the object is being deleted and has finalizers.
std::optional<BlockedDeletion> BlockedDeletionOf(const kube::Object& object, absl::Time now);

namespace reason {

inline constexpr char kDeletionBlocked[] = "DeletionBlocked";
inline constexpr char kTakenOutOfBindings[] = "TakenOutOfBindings";

}  // namespace reason

namespace message {

// For the template itself, which is propagated to so many clusters.
std::string TemplateStays(const kube::Object& object, const BlockedDeletion& blocked,
                          size_t clusters);
// For an object in a member that its Work still wants.
std::string MemberObjectStays(const kube::Object& object, const BlockedDeletion& blocked,
                              absl::string_view cluster);
// For a Cluster whose removal waits for its execution namespace, which has these Works.
std::string ClusterWaitsForWorks(const kube::Object& cluster, const BlockedDeletion& blocked,
                                 absl::Span<const kube::ObjectPtr> works);
// For a Cluster whose removal waits for bindings, which name it as a target.
std::string ClusterWaitsForBindings(const kube::Object& cluster, const BlockedDeletion& blocked,
                                    absl::Span<const kube::ObjectPtr> bindings);
// For a Cluster that was taken out of bindings because the scheduler has not done so.
std::string ClusterTakenOut(const kube::Object& cluster,
                            absl::Span<const kube::ObjectPtr> bindings);

}  // namespace message
}  // namespace api

#endif  // API_BLOCKED_DELETION_H_
