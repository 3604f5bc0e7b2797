// EndpointSlices of Services across clusters: what they belong to, what they are called on their
// way, and what a Work that carries one says about who collected it.
//
// A slice of a provider cluster is collected into a Work in that cluster's execution namespace, for
// a ServiceExport in the cluster, for a MultiClusterService, or for both. From the Work it becomes
// a slice in the control plane (imported), or Works for other clusters (dispatched).
#ifndef API_ENDPOINT_SLICE_H_
#define API_ENDPOINT_SLICE_H_

#include <set>
#include <string>

#include "absl/strings/string_view.h"
#include "kube/meta/names.h"
#include "kube/meta/object.h"

namespace api {

// Reads one EndpointSlice (discovery.k8s.io/v1). The object must outlive the view and stay
// unchanged.
class EndpointSliceView {
 public:
  explicit EndpointSliceView(const kube::Object& object) : object_(object) {}
  explicit EndpointSliceView(kube::Object&&) = delete;

  // Returns the Service that the slice belongs to by its label; without a name when it belongs to
  // none.
  kube::ObjectKey Service() const;
  // Returns whether Karmada has made the slice, so that it must not be collected again (upstream's
  // helper.IsEndpointSliceManagedByKarmada).
  bool IsManagedByKarmada() const;

 private:
  const kube::Object& object_;
};

// Return "imported-<cluster>-<slice>", "<provider>-<slice>" and "derived-<service>" (upstream's
// pkg/util/names).
std::string ImportedSliceName(absl::string_view cluster, absl::string_view slice);
std::string DispatchedSliceName(absl::string_view provider, absl::string_view slice);
std::string DerivedServiceName(absl::string_view service);

// Who collects slices: the loop for ServiceExports or the one for MultiClusterServices. Both write
// the same Work when a Service has both.
enum class SliceCollector { kServiceExport, kMultiClusterService };

// What distinguishes the two on a Work.
struct SliceCollectorKeys {
  const char* name;             // Its value in the label of collectors.
  const char* namespace_label;  // Which Service the slice belongs to.
  const char* name_label;
  const char* finalizer;  // Of the loop that takes the slice on from the Work.
};
const SliceCollectorKeys& KeysOf(SliceCollector collector);

// Returns the names of the collectors that a Work has: those of its label, also ones that this
// program does not know. When that label is empty or missing, the labels of the Services decide
// (upstream never deletes such a Work).
std::set<std::string> CollectorsOf(const kube::Object& work);
bool IsCollectedBy(const kube::Object& work, SliceCollector collector);
// Returns the value of the label: sorted (upstream's order varies from write to write), joined with
// ".".
std::string JoinedCollectors(const std::set<std::string>& collectors);

// Returns whether a Work carries an EndpointSlice that was collected from the Work's own cluster:
// it is not dispatched there, has a collector, and was not dispatched from another cluster.
bool IsCollectedSlice(const kube::Object& work);
// Returns the key of the slice that such a Work carries; without a name when it carries none.
kube::ObjectKey SliceOf(const kube::Object& work);
// Returns the Service for which the collector wants the Work, by the Work's labels; without a name
// when there is none.
kube::ObjectKey CollectedServiceOf(const kube::Object& work, SliceCollector collector);

// The event reasons of failures to collect a slice into a Work or to import it from there, and of
// the successes that end them. Upstream only logs both.
namespace reason {
inline constexpr char kCollectEndpointSliceFailed[] = "CollectEndpointSliceFailed";
inline constexpr char kCollectEndpointSliceSucceed[] = "CollectEndpointSliceSucceed";
inline constexpr char kImportEndpointSliceFailed[] = "ImportEndpointSliceFailed";
inline constexpr char kImportEndpointSliceSucceed[] = "ImportEndpointSliceSucceed";
// A cluster does not serve a kind that a Service across clusters needs there; upstream has it for
// MultiClusterServices.
inline constexpr char kApiIncompatible[] = "APIIncompatible";
}  // namespace reason

}  // namespace api

#endif  // API_ENDPOINT_SLICE_H_
