// Finds requests that two HTTP implementations could read differently. Private to base/.
#ifndef BASE_INTERNAL_HTTP_HEAD_CHECK_H_
#define BASE_INTERNAL_HTTP_HEAD_CHECK_H_

#include "absl/strings/string_view.h"

namespace base::internal {

// Returns why a request with this head has to be refused; "" when it may pass. `head` is the start
// line and the headers, up to and including the empty line.
//
// A server behind a proxy, and a proxy in front of a server, must agree with it on where a request
// ends. The parser is lenient in places where others are not: it joins a header that is continued
// on the next line, and takes the same Content-Length twice.
absl::string_view FlawOf(absl::string_view head);

}  // namespace base::internal

#endif  // BASE_INTERNAL_HTTP_HEAD_CHECK_H_
