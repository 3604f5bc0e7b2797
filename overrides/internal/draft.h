// An object that overriders change, with what they may still do to it.
#ifndef OVERRIDES_INTERNAL_DRAFT_H_
#define OVERRIDES_INTERNAL_DRAFT_H_

#include <cstddef>

#include "absl/status/status.h"
#include "absl/strings/string_view.h"
#include "base/json.h"
#include "kube/meta/patch.h"

namespace overrides {

// How many bytes all overriders may add to an object besides what their policies spell out. An
// image or an argument for each of many containers, and the aliases and indentation of YAML text,
// can make gigabytes out of objects and policies that an API server accepts.
inline constexpr size_t kMaxAddedBytes = 2 << 20;

struct Draft {
  json::Value root;
  size_t room = kMaxAddedBytes;  // How many bytes may still be added.
  // What all overriders may still look at. One budget for each of their patches would not do: a
  // policy has room for thousands of them.
  kube::PatchBudget budget = kube::PatchBudget();

  // Takes work off the budget. kResourceExhausted when there is not so much left.
  absl::Status Spend(size_t work);
  // Counts bytes that the object gains. kResourceExhausted when there are too many.
  absl::Status Grow(size_t bytes);
  // Applies operations of a JSON patch in the place of the object, which is of no use after an
  // error.
  absl::Status Patch(json::Value operations);
};

// Returns an operation of a JSON patch.
json::Value Operation(absl::string_view op, absl::string_view path, json::Value value);

// Returns by how many bytes `after` is longer.
size_t Growth(absl::string_view before, absl::string_view after);

}  // namespace overrides

#endif  // OVERRIDES_INTERNAL_DRAFT_H_
