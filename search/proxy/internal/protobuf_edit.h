// Edits single fields of an encoded protobuf message; unknown fields keep their bytes. Private to
// search/proxy/.
#ifndef SEARCH_PROXY_INTERNAL_PROTOBUF_EDIT_H_
#define SEARCH_PROXY_INTERNAL_PROTOBUF_EDIT_H_

#include <cstdint>
#include <functional>
#include <optional>
#include <string>

#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"
#include "absl/types/span.h"

namespace search {

// Numbers of nested fields, outermost first.
using FieldPath = absl::Span<const uint32_t>;
// Returns the new contents of a string, bytes or message field; nullopt removes the field.
using FieldEdit =
    std::function<absl::StatusOr<std::optional<std::string>>(absl::string_view contents)>;

// Returns the message with every occurrence of the field edited. kInvalidArgument when the message
// is malformed on the way to the field; errors of `edit` are returned as they are.
absl::StatusOr<std::string> EditField(absl::string_view message, FieldPath path,
                                      const FieldEdit& edit);

}  // namespace search

#endif  // SEARCH_PROXY_INTERNAL_PROTOBUF_EDIT_H_
