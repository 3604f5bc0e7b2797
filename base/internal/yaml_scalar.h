// Determines what a YAML scalar means, by the rules of sigs.k8s.io/yaml (YAML 1.1 as go-yaml v2
// reads it). Private to base/.
#ifndef BASE_INTERNAL_YAML_SCALAR_H_
#define BASE_INTERNAL_YAML_SCALAR_H_

#include <string>

#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"
#include "base/json.h"

namespace yaml::internal {

// Returns the value of an unquoted scalar without a tag: null, boolean, number or else the text
// itself. kInvalidArgument for infinities and NaN, which JSON does not have.
absl::StatusOr<json::Value> ResolvePlain(absl::string_view text);

// Returns the value of a scalar with a tag such as "tag:yaml.org,2002:int". Other tags than YAML's
// own make strings. kInvalidArgument when the text does not fit the tag.
absl::StatusOr<json::Value> ResolveTagged(absl::string_view tag, absl::string_view text);

// Returns whether this reader and others read the unquoted text as that same string.
bool IsPlainString(absl::string_view text);

}  // namespace yaml::internal

#endif  // BASE_INTERNAL_YAML_SCALAR_H_
