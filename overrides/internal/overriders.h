// The overriders of one rule, as changes of an object.
#ifndef OVERRIDES_INTERNAL_OVERRIDERS_H_
#define OVERRIDES_INTERNAL_OVERRIDERS_H_

#include "absl/status/status.h"
#include "absl/strings/string_view.h"
#include "base/json.h"
#include "kube/meta/object.h"

namespace overrides {

// Applies `overriders` (policy/v1alpha1 Overriders) to the object: images, commands, arguments,
// labels, annotations, text in fields, then the plaintext operations (upstream's
// applyPolicyOverriders). `field` is where they are in their policy; kInvalidArgument begins with
// the overrider's place: "spec.overriders.plaintext[2]: remove operation does not apply ...". After
// an error the object is of no use.
absl::Status ApplyOverriders(const json::Value& overriders, absl::string_view field,
                             kube::Object& object);

}  // namespace overrides

#endif  // OVERRIDES_INTERNAL_OVERRIDERS_H_
