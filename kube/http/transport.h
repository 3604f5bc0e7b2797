// HTTP to one API server, as the client needs it; this interface hides the HTTP library.
#ifndef KUBE_HTTP_TRANSPORT_H_
#define KUBE_HTTP_TRANSPORT_H_

#include <cstddef>
#include <functional>
#include <map>
#include <memory>
#include <string>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"
#include "absl/time/time.h"
#include "base/stop_token.h"

namespace kube {

struct HttpRequest {
  std::string method;  // Such as "GET".
  std::string path;    // Escaped path with query: "/api/v1/pods?limit=500".
  std::string accept = "application/json";
  // The ETag of an answer that the caller still has. If it is still current, the server may answer
  // 304 without a body. "" sends none.
  std::string if_none_match;
  std::string content_type;
  std::string body;
  absl::Duration timeout = absl::Seconds(32);  // From the start to the end of the answer.
  std::string user_agent;
  // An answer with a larger body is refused while it arrives. The default exceeds any page of a
  // list that an API server sends.
  size_t max_answer_bytes = 64 << 20;
};

struct HttpResponse {
  int code = 0;
  std::map<std::string, std::string> headers;  // Names are in lower case.
  std::string body;
};

// Marks an error as "the server cannot have acted on the request": no connection, a refused
// handshake, a request that was not written completely. Such a request may be sent again whatever
// its method.
absl::Status NotProcessed(absl::Status error);
bool WasNotProcessed(const absl::Status& error);

// A response whose body is delivered as it arrives. Destroying it cancels the request, at any time
// after the call of Open(). The destructor waits for a callback that is running in another thread,
// and for nothing else; no callback runs afterwards. REQUIRES: not destroyed inside a callback.
class HttpStream {
 public:
  virtual ~HttpStream() = default;
};

// Callbacks are called on the transport's threads, one at a time for each stream; they must not
// block.
struct StreamCallbacks {
  // Called once, first, with status and headers. The bodies of error answers are delivered as data,
  // too.
  std::function<void(const HttpResponse& head)> on_head;
  std::function<void(absl::string_view bytes)> on_data;
  // Called once, last: OK when the server ended the body properly, else the reason why it broke
  // off.
  std::function<void(absl::Status)> on_end;
};

class Transport {
 public:
  virtual ~Transport() = default;
  // Blocks. An HTTP error code is an answer, not an error. kUnavailable: there was no connection,
  // or it broke; kDeadlineExceeded; kCancelled; kUnauthenticated: credentials could not be
  // obtained; kResourceExhausted: the answer is too large. REQUIRES: not called in a stream's
  // callback.
  virtual absl::StatusOr<HttpResponse> Send(const HttpRequest& request,
                                            const base::StopToken& stop) = 0;
  // Starts a streamed GET; needs no thread. `request.timeout` is the longest silence allowed. Does
  // not block, not even while credentials are obtained (an exec plugin), which destroying the
  // stream also ends; every failure is reported by on_end.
  virtual std::unique_ptr<HttpStream> Open(const HttpRequest& request,
                                           StreamCallbacks callbacks) = 0;
  // Replaces ConnectionConfig::token. Requests that start from now on carry the new token;
  // connections and streams stay as they are, because an API server checks a token only when a
  // request begins. Returns false when this transport cannot do it, because its credentials come
  // from elsewhere (a token file, a password, a plugin): the caller then makes a new transport.
  // Thread-safe. See DifferOnlyInToken() in kubeconfig.h.
  virtual bool ReplaceToken(const std::string& /*token*/) { return false; }
};

}  // namespace kube

#endif  // KUBE_HTTP_TRANSPORT_H_
