// The record of applied rules that a Work has in its annotations.
#ifndef OVERRIDES_INTERNAL_APPLIED_RECORD_H_
#define OVERRIDES_INTERNAL_APPLIED_RECORD_H_

#include <cstddef>
#include <string>
#include <vector>

#include "overrides/apply.h"

namespace overrides {

// Returns how many bytes the rule adds to the text.
size_t RecordedBytes(const AppliedRule& applied);

// Returns the text for the rules: a list of {policyName, overriders}, sorted by the policy's name,
// with the fields in the order of upstream's types and with Go's escapes (upstream's
// AppliedOverrides.MarshalJSON). "" when there are no rules.
std::string AppliedRecord(std::vector<AppliedRule> rules);

}  // namespace overrides

#endif  // OVERRIDES_INTERNAL_APPLIED_RECORD_H_
