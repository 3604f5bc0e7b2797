// The patch formats of the Kubernetes API that need no types, as pure functions on JSON.
#ifndef KUBE_META_PATCH_H_
#define KUBE_META_PATCH_H_

#include <cstddef>

#include "absl/status/statusor.h"
#include "base/json.h"

namespace kube {

// Applies a patch of RFC 7386. Null members of `patch` delete; null members of objects in lists are
// dropped, as kube-apiserver does.
json::Value ApplyMergePatch(const json::Value& target, const json::Value& patch);
// Returns the smallest merge patch that turns `before` into `after`; null when they do not differ.
// Lists that differ are in it as a whole. An explicit null in `after` cannot be expressed and
// counts as absent.
json::Value DiffMergePatch(const json::Value& before, const json::Value& after);
// Returns whether applying the merge patch to `before` sets, changes or removes a list, at any
// depth. A merge patch replaces lists as a whole, so a writer that shares the list needs a
// precondition then.
bool PatchTouchesList(const json::Value& before, const json::Value& patch);
// Returns the JSON patch that does the same to `before` as this merge patch, which is one of
// DiffMergePatch for two objects, and fails where a list or object that it replaces as a whole is
// not what it was.
json::Value GuardedJsonPatch(const json::Value& before, const json::Value& patch);

// The work that JSON patches may do before they are refused. A patch of megabytes could otherwise
// move large values for minutes. Patches that share a budget have it together.
class PatchBudget {
 public:
  // In values that are looked at or moved; about a second.
  static constexpr size_t kWhole = 20'000'000;

  explicit PatchBudget(size_t work = kWhole) : left_(work) {}
  // Takes work off the budget. Returns false when less than that is left; then nothing is.
  bool Spend(size_t work) {
    const bool enough = work <= left_;
    left_ = enough ? left_ - work : 0;
    return enough;
  }
  bool IsSpent() const { return left_ == 0; }

 private:
  size_t left_;
};

// Applies a patch of RFC 6902 with the library semantics that Karmada relies on (evanphx/json-patch
// v5): "-" appends, negative indices count from the end, a missing path of remove/replace or a
// missing parent is an error (kInvalidArgument naming operation and path); in a test, an absent
// member equals null. Limits: 3 MiB for all copies together, 512 levels of nesting, and the budget,
// a whole one when none is given (kResourceExhausted). `patch` is the array of operations. A target
// that is moved in and shared with nobody is changed in its place, so that a hundred small patches
// of a large object do not copy it a hundred times.
absl::StatusOr<json::Value> ApplyJsonPatch(json::Value target, const json::Value& patch,
                                           PatchBudget& budget);
absl::StatusOr<json::Value> ApplyJsonPatch(const json::Value& target, const json::Value& patch);

}  // namespace kube

#endif  // KUBE_META_PATCH_H_
