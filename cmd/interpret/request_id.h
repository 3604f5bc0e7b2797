// Finds the id of a request as it is written.
#ifndef CMD_INTERPRET_REQUEST_ID_H_
#define CMD_INTERPRET_REQUEST_ID_H_

#include "absl/strings/string_view.h"

namespace cmd::interpret {

// Returns the text of the member "id", "null" without one. The text is kept because json::Value
// would round a number beyond 64 bits, and because 1e2 and 100 are different ids for clients that
// compare texts. Of several the last one counts, as in json::Parse. The view points into `request`.
// REQUIRES: `request` is a valid JSON object.
absl::string_view RequestIdText(absl::string_view request);

}  // namespace cmd::interpret

#endif  // CMD_INTERPRET_REQUEST_ID_H_
