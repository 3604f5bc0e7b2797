// What a merge patch changes, in words, and who has set that.
#ifndef KUBE_META_PATCH_PATHS_H_
#define KUBE_META_PATCH_PATHS_H_

#include <cstddef>
#include <string>

#include "base/json.h"

namespace kube {

// Returns the paths that a merge patch changes: "spec.replicas, metadata.labels.app"; at most
// `limit`, then "...".
std::string PathsOf(const json::Value& patch, size_t limit);

// Returns whether the fields of a manager (fieldsV1 of an entry of metadata.managedFields) have one
// that the merge patch changes.
bool OwnsChanged(const json::Value& fields, const json::Value& patch);

}  // namespace kube

#endif  // KUBE_META_PATCH_PATHS_H_
