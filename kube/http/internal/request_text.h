// Formats requests as they are sent.
#ifndef KUBE_HTTP_INTERNAL_REQUEST_TEXT_H_
#define KUBE_HTTP_INTERNAL_REQUEST_TEXT_H_

#include <string>
#include <utility>
#include <vector>

#include "absl/status/status.h"
#include "absl/strings/string_view.h"

namespace kube {

struct RequestText {
  absl::string_view method;
  std::string target;  // Path and query, or the target of CONNECT.
  std::vector<std::pair<std::string, std::string>> headers;  // Content-Length is added.
  absl::string_view body;
};

// kInvalidArgument when the method, the target or a header contains a character that would end it
// early (a line break) or that HTTP does not allow.
absl::Status CheckRequest(const RequestText& request);

// Returns head and body in one piece, so that they share one TLS record. REQUIRES: CheckRequest()
// is OK.
std::string WriteRequest(const RequestText& request);

}  // namespace kube

#endif  // KUBE_HTTP_INTERNAL_REQUEST_TEXT_H_
