// Merges two lists as strategic merge patch does.
#ifndef KUBE_SCHEMA_INTERNAL_STRATEGIC_LIST_H_
#define KUBE_SCHEMA_INTERNAL_STRATEGIC_LIST_H_

#include <functional>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"
#include "base/json.h"

namespace kube::schema::internal {

struct ListMerge {
  absl::string_view merge_key;  // "" for lists of scalars.
  // Merges two objects with the same key.
  std::function<absl::StatusOr<json::Value>(const json::Value& original, const json::Value& patch)>
      merge_objects;
  // Returns the new object that an object of the patch stands for.
  std::function<json::Value(const json::Value& patch)> as_new;
};

// Merges the items of `patch` into those of `original` ($patch markers of items are honoured).
// Items of the patch have its order, the others that of the original.
absl::StatusOr<json::Value> MergeLists(const json::Value& original, const json::Value& patch,
                                       const ListMerge& merge);

// Returns `merged` in the order of `wanted`; items that `wanted` does not have keep their place
// relative to the others in `original` as far as possible.
absl::StatusOr<json::Value> Rearrange(const json::Value& merged, const json::Value& wanted,
                                      const json::Value& original, absl::string_view merge_key);

// kInvalidArgument when the items of `patch` have another order than in `wanted`, or are missing
// there.
absl::Status CheckOrder(const json::Value& patch, const json::Value& wanted,
                        absl::string_view merge_key);

// Returns the scalars of `list` that are not in `unwanted`.
json::Value WithoutScalars(const json::Value& list, const json::Value& unwanted);

}  // namespace kube::schema::internal

#endif  // KUBE_SCHEMA_INTERNAL_STRATEGIC_LIST_H_
