// Builds errors about one field of an object, in Kubernetes' wording.
#ifndef KUBE_META_INTERNAL_FIELD_ERROR_H_
#define KUBE_META_INTERNAL_FIELD_ERROR_H_

#include <string>

#include "absl/status/status.h"
#include "absl/strings/string_view.h"

namespace kube::internal {

// Returns the text in double quotes, with control characters, quotes and backslashes escaped as
// Go's %q does.
std::string Quote(absl::string_view text);

// Returns kInvalidArgument `<field>: Invalid value: <rendered>: <detail>`; `rendered` is the value
// in the form to print.
absl::Status InvalidField(absl::string_view field, absl::string_view rendered,
                          absl::string_view detail);

}  // namespace kube::internal

#endif  // KUBE_META_INTERNAL_FIELD_ERROR_H_
