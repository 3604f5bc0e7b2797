// The three patch formats of the Kubernetes API, as pure functions on JSON.
#ifndef KUBE_META_PATCH_H_
#define KUBE_META_PATCH_H_

#include "absl/status/statusor.h"
#include "base/json.h"

namespace kube {

// RFC 7386. Null members of `patch` delete; those of objects in lists are dropped, as
// kube-apiserver does.
json::Value ApplyMergePatch(const json::Value& target, const json::Value& patch);
// The smallest merge patch that makes `before` into `after`; null when nothing differs. Lists that
// differ are carried whole. An explicit null in `after` cannot be expressed and counts as absent.
json::Value DiffMergePatch(const json::Value& before, const json::Value& after);
// Returns whether applying the merge patch to `before` sets, changes or removes a list, at any
// depth. A merge patch carries lists whole, so a writer that shares the list then needs a
// precondition.
bool PatchTouchesList(const json::Value& before, const json::Value& patch);

// RFC 6902 with the library semantics Karmada relies on (evanphx/json-patch v5): "-" appends,
// negative indices count from the end, a missing path of remove/replace or a missing parent is an
// error (kInvalidArgument naming operation and path); test takes an absent member for null. Copies
// may add up to 3 MiB and results nest 512 levels deep. `patch` is the array of operations.
absl::StatusOr<json::Value> ApplyJsonPatch(const json::Value& target, const json::Value& patch);

// Strategic merge by the kind in `target`: the list merge keys of the built-in kinds (core, apps,
// batch, autoscaling, policy, storage, networking, admissionregistration) are known, of other kinds
// those of metadata. $patch, $setElementOrder, $deleteFromPrimitiveList and $retainKeys directives
// are honoured. Everything else merges as RFC 7386 does. kInvalidArgument for a malformed directive
// or an item without its merge key.
absl::StatusOr<json::Value> ApplyStrategicMergePatch(const json::Value& target,
                                                     const json::Value& patch);

}  // namespace kube

#endif  // KUBE_META_PATCH_H_
