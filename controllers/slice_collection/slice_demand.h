// Which Works of a cluster ask for EndpointSlices of it, and which carry some: pure functions, and
// the index by which a collector finds both.
#ifndef CONTROLLERS_SLICE_COLLECTION_SLICE_DEMAND_H_
#define CONTROLLERS_SLICE_COLLECTION_SLICE_DEMAND_H_

#include <string>
#include <vector>

#include "absl/strings/string_view.h"
#include "api/endpoint_slice.h"
#include "kube/cache/store.h"
#include "kube/meta/names.h"
#include "kube/meta/object.h"
#include "kube/runtime/events.h"

namespace controllers {

// Returns the Service whose slices the Work asks the collector for; without a name when it asks for
// none. The Work of a ServiceExport asks once it has been applied; what counts from then on is the
// export in the member. The Work of a MultiClusterService, which is never applied, asks itself.
kube::ObjectKey DemandedService(const kube::Object& work, api::SliceCollector collector);

// Returns the name by which it is noted (SeenDeletions) that the Work of a
// MultiClusterService which asked for the Service's slices in this execution namespace was deleted.
kube::ObjectKey DemandOf(absl::string_view ns, const kube::ObjectKey& service);

// An index of Works for one collector.
std::string DemandIndex(api::SliceCollector collector);
kube::IndexFn DemandIndexValues(api::SliceCollector collector);
// Its values: the Works of an execution namespace that ask for slices of any Service or of this
// one, and those that carry a slice.
std::string AsksIn(absl::string_view ns);
std::string AsksFor(absl::string_view ns, const kube::ObjectKey& service);
std::string CarriesIn(absl::string_view ns);

// Adds whom events about the slices concern: a Work that asks for them, and its template.
void AddAsking(const kube::Object& work, std::vector<kube::InvolvedObject>& about);

// Returns whether an update of a Work makes a difference to one of these values.
bool ChangesDemand(api::SliceCollector collector, const kube::Object& before,
                   const kube::Object& after);

}  // namespace controllers

#endif  // CONTROLLERS_SLICE_COLLECTION_SLICE_DEMAND_H_
