// Strategic merge patch, the patch format that knows the types of what it changes.
#ifndef KUBE_SCHEMA_STRATEGIC_MERGE_PATCH_H_
#define KUBE_SCHEMA_STRATEGIC_MERGE_PATCH_H_

#include "absl/status/statusor.h"
#include "base/json.h"

namespace kube {

// Applies a strategic merge patch for the kind in `target`. Lists of kinds that the table has merge
// as Kubernetes' types say (schema::Merge); of other kinds, those of metadata do. $patch,
// $setElementOrder, $deleteFromPrimitiveList and $retainKeys directives are honoured. Everything
// else merges as RFC 7386 does. kInvalidArgument for a malformed directive or an item without its
// merge key.
absl::StatusOr<json::Value> ApplyStrategicMergePatch(const json::Value& target,
                                                     const json::Value& patch);

}  // namespace kube

#endif  // KUBE_SCHEMA_STRATEGIC_MERGE_PATCH_H_
