// Converts YAML text to json::Value and back (kubeconfigs, manifests, customizations).
#ifndef BASE_YAML_H_
#define BASE_YAML_H_

#include <optional>
#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"
#include "base/json.h"
#include "base/yaml_position.h"

namespace yaml {

// Returns all documents of a stream (`---` separated) that are not empty. JSON is YAML, too.
// Scalars get types as in Kubernetes' YAML reader (sigs.k8s.io/yaml, YAML 1.1 booleans). Errors
// (kInvalidArgument) contain line and column. Anchors are expanded, with a limit on the expanded
// size.
absl::StatusOr<std::vector<json::Value>> ParseAll(absl::string_view text);
// Returns the position of an error of these functions, also after base::Annotate; nullopt when it
// is not known, as for other errors.
std::optional<Position> ErrorPosition(const absl::Status& status);
// Returns the only document of the text; kInvalidArgument when there is none or more than one.
absl::StatusOr<json::Value> Parse(absl::string_view text);

// Writes block style, names sorted, strings quoted only where a reader would misread them.
std::string Write(const json::Value& value);
// Writes what sigs.k8s.io/yaml writes for a value that comes from JSON, byte for byte: its quotes,
// its folded lines, its order of names. A text of more than `max_bytes` is kResourceExhausted, and
// is not made to its end: expanded anchors and indentation can make it a thousand times as long as
// the text that was read.
absl::StatusOr<std::string> WriteAsGo(const json::Value& value, size_t max_bytes);

}  // namespace yaml

#endif  // BASE_YAML_H_
