// Overriders of JSON or YAML text that an object has in one of its fields.
#ifndef OVERRIDES_INTERNAL_FIELD_TEXT_H_
#define OVERRIDES_INTERNAL_FIELD_TEXT_H_

#include "absl/status/status.h"
#include "base/json.h"
#include "overrides/internal/draft.h"

namespace overrides {

// Applies an item of fieldOverrider: operations on the document that is the text of a field.
// kInvalidArgument when there is no such text, it cannot be read, or an operation does not apply;
// kResourceExhausted as for every overrider.
absl::Status OverrideField(const json::Value& overrider, Draft& draft);

}  // namespace overrides

#endif  // OVERRIDES_INTERNAL_FIELD_TEXT_H_
