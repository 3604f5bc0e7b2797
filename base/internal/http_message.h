// Reads request targets and writes response heads and chunks of HTTP/1.1. Private to base/.
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
  kUntilClose,  // HTTP/1.0 streams, and what follows an upgrade.
};

// Properties of a request that determine how its answer is written.
struct ResponseRules {
  bool http10 = false;
  bool keep_alive = true;
  bool head = false;  // A HEAD request: no body follows.
};

// Returns whether such an answer may have a body.
bool HasBody(int code, const ResponseRules& rules);

// Returns the length of the body that `response` brings.
size_t BodyLength(const HttpResponse& response);

// Returns the status line and header fields with the final empty line. Line breaks in values become
// spaces. With Framing::kLength the length is that of the stream, if it is set, else of the body.
std::string FormatHead(const HttpResponse& response, const ResponseRules& rules, Framing framing);

// Returns what precedes the bytes of a chunk. REQUIRES: size > 0, because an empty chunk would end
// the body.
std::string ChunkHead(size_t size);
constexpr absl::string_view kChunkTail = "\r\n";
constexpr absl::string_view kLastChunk = "0\r\n\r\n";

}  // namespace base::internal

#endif  // BASE_INTERNAL_HTTP_MESSAGE_H_
