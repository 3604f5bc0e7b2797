// HTTP/1.1 text: request targets, response heads, chunks. Private to base/.
#ifndef BASE_INTERNAL_HTTP_MESSAGE_H_
#define BASE_INTERNAL_HTTP_MESSAGE_H_

#include <string>

#include "absl/strings/string_view.h"
#include "base/http_server.h"

namespace base::internal {

// Fills path and query of `request` from its target (origin or absolute form). A percent sign that
// starts no escape stays as it is; "+" means a space in the query only.
void ParseTarget(HttpRequest& request);

// How a response body is delimited.
enum class Framing {
  kLength,      // Content-Length.
  kChunked,     // Transfer-Encoding: chunked.
  kUntilClose,  // HTTP/1.0 streams.
};

// What the request said that matters for writing its answer.
struct ResponseRules {
  bool http10 = false;
  bool keep_alive = true;
  bool head = false;  // A HEAD request: no body follows.
};

// Returns whether a body may follow such an answer.
bool HasBody(int code, const ResponseRules& rules);

// Status line and header fields with the final empty line. Line breaks in values become spaces.
std::string FormatHead(const HttpResponse& response, const ResponseRules& rules, Framing framing);

void AppendChunk(std::string& out, absl::string_view bytes);  // Nothing for empty bytes.
void AppendLastChunk(std::string& out);

}  // namespace base::internal

#endif  // BASE_INTERNAL_HTTP_MESSAGE_H_
