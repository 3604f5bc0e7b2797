// Builds the requirements of label selectors.
#ifndef KUBE_META_INTERNAL_LABEL_REQUIREMENT_H_
#define KUBE_META_INTERNAL_LABEL_REQUIREMENT_H_

#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "absl/strings/numbers.h"
#include "absl/strings/string_view.h"
#include "kube/meta/selector.h"

namespace kube::internal {

// Returns a requirement with sorted, unique values. kInvalidArgument lists every mistake: key,
// number of values for the operator, each value.
absl::StatusOr<LabelSelector::Requirement> MakeRequirement(absl::string_view key,
                                                           LabelSelector::Operator op,
                                                           std::vector<std::string> values);

// Returns the requirements of a selector text, in the order written.
absl::StatusOr<std::vector<LabelSelector::Requirement>> ParseRequirements(absl::string_view text);

// Parses a decimal int64 with an optional sign and no other characters, for kGreaterThan and
// kLessThan. Returns whether it succeeded.
bool ParseWholeNumber(absl::string_view text, int64_t& number);

}  // namespace kube::internal

#endif  // KUBE_META_INTERNAL_LABEL_REQUIREMENT_H_
