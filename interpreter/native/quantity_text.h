// The text that Go's encoder writes for a quantity that was read from text.
#ifndef INTERPRETER_NATIVE_QUANTITY_TEXT_H_
#define INTERPRETER_NATIVE_QUANTITY_TEXT_H_

#include <string>

#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"

namespace interpreter::native {

// The canonical form, except where resource.ParseQuantity takes the text for canonical by a quick
// look and keeps it: "+7", "007", "1.500" and "1E3" stay what they are. kInvalidArgument when it is
// no quantity.
absl::StatusOr<std::string> RewrittenQuantity(absl::string_view text);

}  // namespace interpreter::native

#endif  // INTERPRETER_NATIVE_QUANTITY_TEXT_H_
