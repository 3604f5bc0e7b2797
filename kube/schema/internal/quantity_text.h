// Rewrites the text of a quantity as Go's decoder and encoder do.
#ifndef KUBE_SCHEMA_INTERNAL_QUANTITY_TEXT_H_
#define KUBE_SCHEMA_INTERNAL_QUANTITY_TEXT_H_

#include <string>

#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"

namespace kube::schema::internal {

// Returns the canonical form, except where the fast path of resource.ParseQuantity takes the text
// for canonical and keeps it: "+7", "007", "1.500" and "1E3" stay as they are. kInvalidArgument
// when the text is not a quantity.
absl::StatusOr<std::string> QuantityText(absl::string_view text);

}  // namespace kube::schema::internal

#endif  // KUBE_SCHEMA_INTERNAL_QUANTITY_TEXT_H_
