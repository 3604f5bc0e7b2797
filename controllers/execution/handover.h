// What becomes of the objects of a Work that is being deleted, when its cluster returns from an
// outage and the binding wants them there again.
#ifndef CONTROLLERS_EXECUTION_HANDOVER_H_
#define CONTROLLERS_EXECUTION_HANDOVER_H_

#include <string>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/time/time.h"
#include "base/clock.h"
#include "base/stop_token.h"
#include "kube/cache/cluster_client.h"
#include "kube/meta/object.h"
#include "works/placement_wait.h"

namespace controllers {

// How long after its cluster has become ready a Work keeps its objects while the binding does not
// have the cluster: the scheduler learns of the cluster's return at the same moment as this program
// does, and may choose it again.
inline constexpr absl::Duration kReturnGrace = absl::Seconds(10);

// Thread-safe. What it remembers (PlacementWait) may be lost.
class Handover {
 public:
  // REQUIRES: both outlive this, and the caller reads Works and bindings of both scopes.
  Handover(kube::ClusterClient& control_plane, const base::Clock& clock)
      : client_(control_plane), clock_(clock), placement_wait_(clock, absl::InfiniteDuration()) {}

  enum class Objects {
    kDelete,  // Delete or release them.
    kStay,    // The next Work of this name has them, or will; the finalizer may be removed.
    kUnclear  // Look again after a while.
  };
  // `work` is being deleted and its cluster is ready. Only a Work that was deleted before the
  // cluster became ready can hand its objects over. Before kStay is returned for one, a stand-in
  // for it is stored. Errors are those of requests to the control plane.
  absl::StatusOr<Objects> Decide(const kube::Object& cluster, const kube::Object& work,
                                 const base::StopToken& stop);
  // When to look again at a Work whose objects are kUnclear.
  static absl::Duration LookAgainAfter(const kube::Object& work);

  // A stand-in is a Work with the manifests of one that has handed its objects over. It is deleted
  // as soon as it is made, and its finalizer keeps it until the next Work is there; if the binding
  // does not want one any more, the end of the stand-in is that of the objects.
  static bool IsStandIn(const kube::Object& work);
  // Deletes a stand-in that is not being deleted yet. It must not be applied.
  absl::Status End(const kube::Object& stand_in, const base::StopToken& stop);

 private:
  // What a binding makes of a cluster.
  enum class Interest { kNone, kElsewhere, kUndecided, kWanted };

  template <class Scope>
  Interest InterestOf(const kube::ObjectPtr& binding, const kube::Object& work,
                      const std::string& cluster);
  // Asks `read` for the bindings that the Work names; returns the greatest interest among them.
  template <class Read>
  absl::StatusOr<Interest> GreatestInterest(const kube::Object& work, const std::string& cluster,
                                            const Read& read);
  absl::StatusOr<Objects> DecideOnStandIn(const std::string& cluster, const kube::Object& stand_in,
                                          const base::StopToken& stop);
  // Returns whether the cluster may still be chosen: it is being evicted from gracefully, after
  // which the scheduler decides, or the scheduler has not looked at the binding since.
  bool IsUndecided(const kube::Object& binding, const std::string& cluster);
  // The greatest interest among the bindings that the Work names, as the server or the cache has
  // them.
  absl::StatusOr<Interest> LiveInterest(const kube::Object& work, const std::string& cluster,
                                        const base::StopToken& stop);
  Interest CachedInterest(const kube::Object& work, const std::string& cluster);
  absl::Status PutStandIn(const kube::Object& work, const base::StopToken& stop);

  kube::ClusterClient& client_;
  const base::Clock& clock_;
  works::PlacementWait placement_wait_;
};

}  // namespace controllers

#endif  // CONTROLLERS_EXECUTION_HANDOVER_H_
