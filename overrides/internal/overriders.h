// The overriders of one rule, as changes of an object.
#ifndef OVERRIDES_INTERNAL_OVERRIDERS_H_
#define OVERRIDES_INTERNAL_OVERRIDERS_H_

#include <cstddef>

#include "absl/status/status.h"
#include "absl/strings/string_view.h"
#include "base/json.h"

namespace overrides {

// How many bytes all overriders may add to an object besides what their policies spell out. An
// image or an argument for each of many containers, and the aliases and indentation of YAML text,
// can make gigabytes out of objects and policies that an API server accepts.
inline constexpr size_t kMaxAddedBytes = 2 << 20;

// An object that overriders change.
struct Draft {
  json::Value root;
  size_t room = kMaxAddedBytes;  // How many bytes may still be added.
};

// Applies `overriders` (policy/v1alpha1 Overriders) to the object: images, commands, arguments,
// labels, annotations, text in fields, then the plaintext operations (upstream's
// applyPolicyOverriders). `field` is where they are in their policy; kInvalidArgument begins with
// the overrider's place: "spec.overriders.plaintext[2]: remove operation does not apply ...". After
// an error the draft is of no use.
absl::Status ApplyOverriders(const json::Value& overriders, absl::string_view field, Draft& draft);

}  // namespace overrides

#endif  // OVERRIDES_INTERNAL_OVERRIDERS_H_
