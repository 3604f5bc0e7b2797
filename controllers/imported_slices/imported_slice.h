// The EndpointSlices of the control plane that are made of collected ones: pure functions.
#ifndef CONTROLLERS_IMPORTED_SLICES_IMPORTED_SLICE_H_
#define CONTROLLERS_IMPORTED_SLICES_IMPORTED_SLICE_H_

#include <string>
#include <vector>

#include "absl/strings/string_view.h"
#include "kube/meta/object.h"

namespace controllers {

// Returns the slice to make of a manifest of the Work, which belongs to this cluster (upstream's
// collectEndpointSliceFromWork).
kube::Object ImportedSlice(const kube::Object& work, const kube::Object& manifest,
                           absl::string_view cluster);
// Returns `existing` with what is made of the Work; labels and annotations of others stay.
kube::Object MergedSlice(const kube::Object& wanted, const kube::Object& existing);

// Returns whether the labels or annotations of a slice say that it was made of a Work.
bool IsImported(const kube::Object& slice);
// Returns the key of the Work that a slice says it was made of; without a name when it names none.
kube::ObjectKey WorkOfImported(const kube::Object& slice);

// An index of imported slices by the key of their Work, and by its permanent id if they do not name
// a Work.
inline constexpr char kImportedByWork[] = "imported-by-work";
std::vector<std::string> ImportedIndexValues(const kube::Object& slice);
// Returns the values under which the slices of a Work are found.
std::vector<std::string> IndexValuesOfWork(const kube::ObjectKey& work, absl::string_view id);

}  // namespace controllers

#endif  // CONTROLLERS_IMPORTED_SLICES_IMPORTED_SLICE_H_
