// Works that carry an EndpointSlice of a provider cluster: written and taken away for one of the
// two collectors (api::SliceCollector), whose claims on the same Work are kept apart.
//
// Such a Work is in the execution namespace of the cluster that the slice comes from, has the name
// that a Work of the slice has, and is never dispatched. Every write carries the Work's version,
// since each collector writes what the other one has claimed again.
#ifndef WORKS_COLLECTED_SLICES_H_
#define WORKS_COLLECTED_SLICES_H_

#include <string>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "api/endpoint_slice.h"
#include "base/stop_token.h"
#include "kube/cache/cluster_client.h"
#include "kube/cache/store.h"
#include "kube/meta/object.h"
#include "works/work_writer.h"

namespace works {

// Returns the key of the Work that carries the cluster's slice.
kube::ObjectKey WorkOfSlice(const std::string& cluster, const kube::ObjectKey& slice);

// An index of the Works of both collectors by the Service that the slice belongs to: the value is
// CollectedFor(). Declare it with ControllerBuilder::Reads(api::Works(), kWorksByCollectedService,
// CollectedServices).
inline constexpr char kWorksByCollectedService[] = "collected-service";
std::vector<std::string> CollectedServices(const kube::Object& work);
std::string CollectedFor(api::SliceCollector collector, const kube::ObjectKey& service);

// Thread-safe.
class CollectedSlices {
 public:
  // REQUIRES: `control_plane` outlives this object.
  explicit CollectedSlices(kube::ClusterClient& control_plane)
      : client_(control_plane), writer_(control_plane) {}

  // Creates the Work of the slice, or updates what differs, with the collector's claim on it.
  // Returns whether anything was written. kFailedPrecondition while an older Work is being deleted;
  // kAlreadyExists (terminal) when a Work of that name carries something that was not collected;
  // kAborted on a conflict. REQUIRES: the caller reads Works; the slice belongs to a Service.
  absl::StatusOr<bool> Report(const std::string& cluster, const kube::Object& slice,
                              api::SliceCollector collector, const base::StopToken& stop);

  // Takes the collector's claim off the Work, and deletes the Work when it was the last one. The
  // finalizer stays: it belongs to the loop that takes the slice on. Returns whether anything was
  // written: nothing is when the Work is not a collected slice, is being deleted, or has no such
  // claim. OK also when it has gone; kAborted on a conflict.
  absl::StatusOr<bool> TakeOff(const kube::ObjectPtr& work, api::SliceCollector collector,
                               const base::StopToken& stop);

 private:
  kube::ClusterClient& client_;
  WorkWriter writer_;
};

}  // namespace works

#endif  // WORKS_COLLECTED_SLICES_H_
