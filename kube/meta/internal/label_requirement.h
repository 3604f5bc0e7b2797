// Building the requirements of label selectors.
#ifndef KUBE_META_INTERNAL_LABEL_REQUIREMENT_H_
#define KUBE_META_INTERNAL_LABEL_REQUIREMENT_H_

#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "absl/strings/numbers.h"
#include "absl/strings/string_view.h"
#include "kube/meta/selector.h"

namespace kube::internal {

// A requirement with sorted, unique values. kInvalidArgument with all that is wrong: key, number of
// values for the operator, each value.
absl::StatusOr<LabelSelector::Requirement> MakeRequirement(absl::string_view key,
                                                           LabelSelector::Operator op,
                                                           std::vector<std::string> values);

// The requirements of a selector text, in the order written.
absl::StatusOr<std::vector<LabelSelector::Requirement>> ParseRequirements(absl::string_view text);

// A decimal int64 with an optional sign and nothing around it (kGreaterThan, kLessThan).
bool ParseWholeNumber(absl::string_view text, int64_t& number);

}  // namespace kube::internal

#endif  // KUBE_META_INTERNAL_LABEL_REQUIREMENT_H_
