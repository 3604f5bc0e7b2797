// An HTTP/1.1 server for health, metrics, webhooks in tests and the sandbox's API servers.
//
//   ASSIGN_OR_RETURN(auto server, base::HttpServer::Start({.address = "127.0.0.1:0"}, handler));
//   server->port();
//
// The handler runs on one of the server's threads and must not block for long; it may answer at
// once, or keep the responder and answer later from any thread.
#ifndef BASE_HTTP_SERVER_H_
#define BASE_HTTP_SERVER_H_

#include <cstddef>
#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"
#include "absl/time/time.h"
#include "base/tls.h"

namespace base {

struct HttpRequest {
  std::string method;                                      // "GET"
  std::string path;                                        // Percent-decoded, without the query.
  std::string target;                                      // The undecoded target.
  std::vector<std::pair<std::string, std::string>> query;  // Decoded, in order.
  std::map<std::string, std::string> headers;              // Names in lower case.
  std::string body;
  tls::PeerIdentity peer;  // From a verified client certificate.

  // Return the first value of a query parameter or header; "" when it is absent. `name` of a header
  // is in lower case.
  absl::string_view Query(absl::string_view name) const;
  absl::string_view Header(absl::string_view name) const;
};

struct HttpResponse {
  int code = 200;
  std::string content_type = "application/json";
  std::vector<std::pair<std::string, std::string>> headers;
  std::string body;
};

// A response sent in pieces (chunked), such as a watch. Thread-safe.
class HttpStream {
 public:
  virtual ~HttpStream() = default;
  // Queues bytes as one chunk. Returns false when the peer is gone, or when its unread backlog
  // exceeds the limit; then the connection is closed, because a watcher that cannot keep up must
  // reconnect.
  virtual bool Write(std::string bytes) = 0;
  virtual void Close() = 0;  // Ends the response normally.
  virtual void Abort() = 0;  // Cuts the connection.
  // Called once, on a server thread, when the peer goes away or the stream has ended.
  virtual void OnClosed(std::function<void()> callback) = 0;
};

class HttpResponder {
 public:
  virtual ~HttpResponder() = default;
  // REQUIRES: exactly one of these functions is called, once.
  virtual void Send(HttpResponse response) = 0;
  virtual std::shared_ptr<HttpStream> StartStream(HttpResponse head) = 0;
  virtual void Abort() = 0;  // Cuts the connection without an answer.
};

using HttpHandler = std::function<void(HttpRequest, std::shared_ptr<HttpResponder>)>;
// Looks at a request that has a body before any of the body is kept. A returned response refuses
// the request and ends the connection; nullopt accepts it. Runs on one of the server's threads and
// must not block.
using HttpHeadCheck = std::function<std::optional<HttpResponse>(const HttpRequest& head)>;

struct HttpServerOptions {
  std::string address =
      "127.0.0.1:0";  // host:port; port 0 picks a free one; ":8080" is every address.
  std::optional<tls::ServerOptions> tls;
  int threads = 1;
  // Beyond this limit the connection that has waited longest for its peer's next request is closed
  // for a new one; if all of them are being answered, the one where that takes longest.
  size_t max_connections = SIZE_MAX;
  HttpHeadCheck check_head;  // Optional.
  size_t max_body_bytes = 4 << 20;
  // The response to a longer body.
  HttpResponse body_too_long = {413, "text/plain", {}, "request body too large\n"};
  size_t max_header_bytes = 32 << 10;
  size_t max_stream_backlog_bytes = 64 << 20;
  // From the first byte to the complete request.
  absl::Duration request_timeout = absl::Seconds(30);
  absl::Duration idle_timeout = absl::Seconds(120);  // Between two requests on one connection.
  // From the start of a connection to the first byte of its first request; idle_timeout if that is
  // shorter.
  absl::Duration first_request_timeout = absl::InfiniteDuration();
};

class HttpServer {
 public:
  // kUnavailable when the address cannot be bound; the message names the address.
  static absl::StatusOr<std::unique_ptr<HttpServer>> Start(HttpServerOptions options,
                                                           HttpHandler handler);
  virtual ~HttpServer() = default;  // Stops.
  virtual int port() const = 0;
  // Closes the listener and every connection, then joins the threads.
  virtual void Stop() = 0;
  // Cuts every open connection but keeps listening (fault injection).
  virtual void DropConnections() = 0;
};

}  // namespace base

#endif  // BASE_HTTP_SERVER_H_
