// Merging two lists as strategic merge patch does.
#ifndef KUBE_META_INTERNAL_STRATEGIC_LIST_H_
#define KUBE_META_INTERNAL_STRATEGIC_LIST_H_

#include <functional>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"
#include "base/json.h"

namespace kube::internal {

struct ListMerge {
  absl::string_view merge_key;  // "" for lists of scalars.
  // Merges two objects with the same key.
  std::function<absl::StatusOr<json::Value>(const json::Value& original, const json::Value& patch)>
      merge_objects;
  // What an object of the patch looks like when it is new.
  std::function<json::Value(const json::Value& patch)> as_new;
};

// The items of `patch` merged into those of `original` ($patch markers of items honoured), in the
// order of the patch where it says something, else of the original.
absl::StatusOr<json::Value> MergeLists(const json::Value& original, const json::Value& patch,
                                       const ListMerge& merge);

// `merged` rearranged to the order of `wanted`; items it does not name keep their place relative to
// the others in `original` as far as possible.
absl::StatusOr<json::Value> Rearrange(const json::Value& merged, const json::Value& wanted,
                                      const json::Value& original, absl::string_view merge_key);

// kInvalidArgument when the items of `patch` stand in another order than `wanted`, or are missing
// there.
absl::Status CheckOrder(const json::Value& patch, const json::Value& wanted,
                        absl::string_view merge_key);

// The scalars of `list` that are not in `unwanted`.
json::Value WithoutScalars(const json::Value& list, const json::Value& unwanted);

}  // namespace kube::internal

#endif  // KUBE_META_INTERNAL_STRATEGIC_LIST_H_
