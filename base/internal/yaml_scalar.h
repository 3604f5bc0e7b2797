// What a YAML scalar means, by the rules of sigs.k8s.io/yaml (YAML 1.1 as go-yaml v2 reads it).
// Private to base/.
#ifndef BASE_INTERNAL_YAML_SCALAR_H_
#define BASE_INTERNAL_YAML_SCALAR_H_

#include <string>

#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"
#include "base/json.h"

namespace yaml::internal {

// The value of an unquoted scalar without a tag: null, boolean, number or else the text itself.
// kInvalidArgument for infinities and NaN, which JSON cannot hold.
absl::StatusOr<json::Value> ResolvePlain(absl::string_view text);

// The value of a scalar with a tag such as "tag:yaml.org,2002:int". Tags that are not YAML's own
// make strings. kInvalidArgument when the text is not what the tag says.
absl::StatusOr<json::Value> ResolveTagged(absl::string_view tag, absl::string_view text);

// Returns whether unquoted text would be read as that very string, by this reader and by others.
bool IsPlainString(absl::string_view text);

}  // namespace yaml::internal

#endif  // BASE_INTERNAL_YAML_SCALAR_H_
