#include "overrides/internal/draft.h"

#include <algorithm>
#include <utility>

#include "absl/strings/str_cat.h"
#include "base/status.h"

namespace overrides {

absl::Status Draft::Spend(size_t work) {
  if (budget.Spend(work)) return absl::OkStatus();
  return absl::ResourceExhaustedError(
      "this overrider and those before it look at too many values: all of them together may make "
      "about a second's work of an object");
}

absl::Status Draft::Grow(size_t bytes) {
  if (bytes <= room) {
    room -= bytes;
    return absl::OkStatus();
  }
  return absl::ResourceExhaustedError(
      absl::StrCat("overriders add more than ", kMaxAddedBytes, " bytes to the object"));
}

absl::Status Draft::Patch(json::Value operations) {
  ASSIGN_OR_RETURN(root, kube::ApplyJsonPatch(std::move(root), operations, budget));
  return absl::OkStatus();
}

json::Value Operation(absl::string_view op, absl::string_view path, json::Value value) {
  // A patch that adds a whole document replaces the one that is there.
  if (path.empty() && op == "add") op = "replace";
  return json::Value::Object({{"op", op}, {"path", path}, {"value", std::move(value)}});
}

size_t Growth(absl::string_view before, absl::string_view after) {
  return after.size() - std::min(before.size(), after.size());
}

}  // namespace overrides
