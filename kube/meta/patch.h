// The three patch formats of the Kubernetes API, as pure functions on JSON.
#ifndef KUBE_META_PATCH_H_
#define KUBE_META_PATCH_H_

#include "absl/status/statusor.h"
#include "base/json.h"

namespace kube {

// RFC 7386. Null members of `patch` delete.
json::Value ApplyMergePatch(const json::Value& target, const json::Value& patch);
// The smallest merge patch that makes `before` into `after`; null when nothing differs. Lists that differ
// are carried whole. An explicit null in `after` cannot be expressed and counts as absent.
json::Value DiffMergePatch(const json::Value& before, const json::Value& after);
// Whether the patch carries a list (then a writer that shares the list needs a precondition).
bool PatchTouchesList(const json::Value& patch);

// RFC 6902 with the library semantics Karmada relies on (evanphx/json-patch): "-" appends, negative
// indices count from the end, a missing path of remove/replace/test or a missing parent of add is an
// error (kInvalidArgument naming operation and path). `patch` is the array of operations.
absl::StatusOr<json::Value> ApplyJsonPatch(const json::Value& target, const json::Value& patch);

// Strategic merge for the built-in kinds: list merge keys of core, apps, batch, networking and rbac types
// are known; $patch, $setElementOrder, $deleteFromPrimitiveList and $retainKeys directives are honoured.
// Unknown fields merge as RFC 7386 does. kInvalidArgument for a malformed directive.
absl::StatusOr<json::Value> ApplyStrategicMergePatch(const json::Value& target,
                                                     const json::Value& patch);

}  // namespace kube

#endif  // KUBE_META_PATCH_H_
