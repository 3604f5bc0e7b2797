// YAML text to and from json::Value (kubeconfigs, manifests, customizations).
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

// All documents of a stream (`---` separated); empty documents are left out. JSON is YAML too.
// Scalars are typed as Kubernetes' YAML reader (sigs.k8s.io/yaml, YAML 1.1 booleans) types them.
// Errors (kInvalidArgument) give line and column. Anchors are expanded, with a cap on the expanded
// size.
absl::StatusOr<std::vector<json::Value>> ParseAll(absl::string_view text);
// Where an error of these functions is in the text, also after base::Annotate; nullopt when it is
// not known, as for other errors.
std::optional<Position> ErrorPosition(const absl::Status& status);
// Exactly one document.
absl::StatusOr<json::Value> Parse(absl::string_view text);

// Block style, names sorted, strings quoted only where a reader would mistake them.
std::string Write(const json::Value& value);

}  // namespace yaml

#endif  // BASE_YAML_H_
