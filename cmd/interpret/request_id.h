// The id of a request as it is written.
#ifndef CMD_INTERPRET_REQUEST_ID_H_
#define CMD_INTERPRET_REQUEST_ID_H_

#include "absl/strings/string_view.h"

namespace cmd::interpret {

// The text of the member "id", "null" without one: json::Value would round a number beyond 64 bits
// with a sign, and 1e2 and 100 are two ids to whoever compares texts. Of several the last counts,
// as with json::Parse. The view is into `request`. REQUIRES: `request` is a valid JSON object.
absl::string_view RequestIdText(absl::string_view request);

}  // namespace cmd::interpret

#endif  // CMD_INTERPRET_REQUEST_ID_H_
