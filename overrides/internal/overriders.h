// The overriders of one rule, as changes of an object.
#ifndef OVERRIDES_INTERNAL_OVERRIDERS_H_
#define OVERRIDES_INTERNAL_OVERRIDERS_H_

#include "absl/status/status.h"
#include "absl/strings/string_view.h"
#include "base/json.h"
#include "overrides/internal/draft.h"

namespace overrides {

// Applies `overriders` (policy/v1alpha1 Overriders) to the object: images, commands, arguments,
// labels, annotations, text in fields, then the plaintext operations (upstream's
// applyPolicyOverriders). `field` is where they are in their policy; kInvalidArgument begins with
// the overrider's place: "spec.overriders.plaintext[2]: remove operation does not apply ...". So
// does kResourceExhausted: the overriders up to this one are more work, or add more bytes, than
// overriders may. After an error the draft is of no use.
absl::Status ApplyOverriders(const json::Value& overriders, absl::string_view field, Draft& draft);

}  // namespace overrides

#endif  // OVERRIDES_INTERNAL_OVERRIDERS_H_
