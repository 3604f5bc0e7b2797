// An HTTP/1.1 server: the public face of karmada-search, the sandbox's API servers, and what serves
// health and metrics.
//
//   ASSIGN_OR_RETURN(auto server, base::HttpServer::Start({.address = "127.0.0.1:0"}, handler));
//   server->port();
//
// The handler runs on one of the server's threads and must not block for long; it may answer at
// once, or keep the responder and answer later from any thread: whole (Send), in pieces
// (StartStream), or by a change of protocol (Upgrade).
//
// A request that two HTTP implementations could read differently is refused with 400 and ends its
// connection: Content-Length together with Transfer-Encoding, either of them twice, a header
// continued on the next line, a space before the colon, control characters, a NUL in the path.
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

// Bytes that many answers may share without copying them.
using SharedBytes = std::shared_ptr<const std::string>;

struct HttpRequest {
  std::string method;                                      // "GET"
  std::string path;                                        // Percent-decoded, without the query.
  std::string target;                                      // The undecoded target.
  std::vector<std::pair<std::string, std::string>> query;  // Decoded, in order.
  // Names in lower case; the values of a header that came several times are joined by ", ".
  std::map<std::string, std::string> headers;
  // The headers as they came; those of one name follow one another.
  std::vector<std::pair<std::string, std::string>> fields;
  std::string body;
  // Counts a long body among those that the server holds. It is to live as long as the body.
  std::shared_ptr<const void> body_share;
  tls::PeerIdentity peer;  // From a verified client certificate.
  // What the client has shown, when ServerOptions::any_client_certificate asked for it; null when
  // it showed nothing. Nobody has verified it yet.
  std::shared_ptr<const tls::PeerCertificates> peer_certificates;
  std::string remote_address;  // "127.0.0.1:40312"
  bool secure = false;         // It came over TLS.
  bool http10 = false;         // The client speaks HTTP/1.0.

  // Return the first value of a query parameter or header; "" when it is absent. `name` of a header
  // is in lower case.
  absl::string_view Query(absl::string_view name) const;
  absl::string_view Header(absl::string_view name) const;
  // Returns the protocol that the client wants to change to, as it wrote it ("websocket",
  // "SPDY/3.1"); "" when it wants none. Only HTTP/1.1 has upgrades.
  absl::string_view UpgradeProtocol() const;
};

struct HttpResponse {
  int code = 200;
  std::string content_type = "application/json";
  // Without Content-Length, Transfer-Encoding and Connection, which the server writes itself.
  std::vector<std::pair<std::string, std::string>> headers;
  std::string body;
  // Follow `body` without having been copied into it.
  std::vector<SharedBytes> more_body;
  // The length of the whole body of a stream if it is known beforehand: it is sent as
  // Content-Length instead of chunks. A stream that is closed with less, or gets more, is cut.
  std::optional<uint64_t> stream_length;
  bool close_connection = false;  // The connection serves no further request.
};

// A response sent in pieces (chunked), such as a watch or a long list. Thread-safe.
//
// A watcher must keep up: when its unread backlog exceeds max_stream_backlog_bytes, it is cut. A
// writer that has much to send waits for the reader instead: it writes while HasRoom(), then asks
// to be called when there is room again. WritePieces() does that.
class HttpStream {
 public:
  virtual ~HttpStream() = default;
  // Queues bytes as one chunk. Returns false when the peer is gone, or when its unread backlog
  // exceeds the limit; then the connection is closed, because a watcher that cannot keep up must
  // reconnect.
  virtual bool Write(std::string bytes) = 0;
  // Does what Write does, without copying the bytes before they are sent.
  virtual bool WriteShared(SharedBytes bytes) { return Write(*bytes); }
  // Returns whether less than stream_window_bytes wait to be sent. False when the stream is closed.
  virtual bool HasRoom() const { return true; }
  // Calls `callback` once, on a server thread, as soon as there is room, or when the stream closes
  // first. Replaces a callback that has not been called yet; nullptr takes it away. Does nothing
  // when the stream is closed already.
  virtual void OnRoom(std::function<void()> callback) { callback(); }
  virtual void Close() = 0;  // Ends the response normally.
  virtual void Abort() = 0;  // Cuts the connection.
  // Called once, on a server thread, when the peer has closed the connection or the stream has
  // ended.
  virtual void OnClosed(std::function<void()> callback) = 0;
};

// Writes what `next` returns until that is nullopt, then closes the stream. Never queues more than
// the window and one piece: `next` is called here, and again on server threads as the peer reads;
// never twice at the same time. It is destroyed when the stream has ended, however it ends.
void WritePieces(std::shared_ptr<HttpStream> stream,
                 std::function<std::optional<SharedBytes>()> next);

// A connection whose protocol has changed: bytes in both directions. Thread-safe. Dropping the last
// handle cuts the connection; after EndWriting() it is closed when everything has been sent.
class HttpTunnel {
 public:
  // Are called on server threads, one at a time; they must not block.
  struct Callbacks {
    // Is called once for each Read().
    std::function<void(std::string bytes)> on_data;
    // The peer sends no more, but may still read. Is called instead of on_data. Over TLS, too.
    std::function<void()> on_end;
    // Is called once, last, however the tunnel ends; then all callbacks are destroyed.
    std::function<void()> on_closed;
  };

  virtual ~HttpTunnel() = default;
  // REQUIRES: is called once, before Read().
  virtual void Start(Callbacks callbacks) = 0;
  // Asks for the next bytes, up to 64 KiB; the last ones are not kept any more. Without it at most
  // as many are read ahead, so that a fast peer has to wait, and all of these count in
  // max_outputs_bytes. There is no limit of time. May be called inside on_data.
  virtual void Read() = 0;
  // The rules of HttpStream hold for these.
  virtual bool Write(std::string bytes) = 0;
  virtual bool HasRoom() const = 0;
  virtual void OnRoom(std::function<void()> callback) = 0;
  // Ends this direction when everything queued has been sent; reading goes on. Over TLS it ends
  // both directions: what the peer still sends is discarded.
  virtual void EndWriting() = 0;
  virtual void Abort() = 0;  // Cuts the connection.
};

class HttpResponder {
 public:
  virtual ~HttpResponder() = default;
  // REQUIRES: exactly one of these functions is called, once.
  virtual void Send(HttpResponse response) = 0;
  virtual std::shared_ptr<HttpStream> StartStream(HttpResponse head) = 0;
  // Answers with `head`, whose code is 101 and whose headers name the new protocol; "Connection:
  // Upgrade" is added. REQUIRES: the request's UpgradeProtocol() is not empty. A request for an
  // upgrade is refused by any other answer. Returns null when this server has no upgrades.
  virtual std::shared_ptr<HttpTunnel> Upgrade(HttpResponse /*head*/) {
    Abort();
    return nullptr;
  }
  virtual void Abort() = 0;  // Cuts the connection without an answer.
  // Calls `callback` once, on a server thread, when the connection is gone, or the whole answer has
  // been sent, or the client has ended its side before the answer began; the answer would still be
  // sent, but clients of APIs end only when they give up, as Go's server assumes, too. For handlers
  // that ask others before they answer; it stays set for the stream or tunnel, until
  // HttpStream::OnClosed() replaces it.
  virtual void OnClosed(std::function<void()> /*callback*/) {}
};

using HttpHandler = std::function<void(HttpRequest, std::shared_ptr<HttpResponder>)>;
// Looks at a request that has a body before any of the body is kept. A returned response refuses
// the request and ends the connection; nullopt accepts it. Runs on one of the server's threads and
// must not block.
using HttpHeadCheck = std::function<std::optional<HttpResponse>(const HttpRequest& head)>;

// What a review has found out about a head.
struct HttpHeadVerdict {
  std::optional<HttpResponse> refusal;  // nullopt accepts it.
  // Whose body it is: one owner leaves as much room for bodies to the others as he takes. Or it is
  // nobody's in particular: kNoOwner (base/fair_share.h).
  std::string owner;
  // Others do not keep this body out, but only those that are privileged, too.
  bool privileged = false;
};

// Decides, as HttpHeadCheck does, but may ask others before: calls `done` once, at once or later,
// on any thread, and returns true; or returns false, and never calls it, for a head that needs no
// review. During a review nothing more is read from the client, whose request still has to be
// complete within request_timeout. `head` is not used after the function has returned. Must not
// block.
using HttpHeadReview =
    std::function<bool(const HttpRequest& head, std::function<void(HttpHeadVerdict verdict)> done)>;

// A certificate and key that are read from files, again whenever their content changes.
struct HttpCertificateFiles {
  std::string certificate, key;  // PEM.
  // How often they are read. What cannot be used (one file of the two has been replaced, for
  // instance) is logged, and the old pair stays in use.
  absl::Duration period = absl::Seconds(10);
};

struct HttpServerOptions {
  std::string address =
      "127.0.0.1:0";  // host:port; port 0 picks a free one; ":8080" is every address.
  std::optional<tls::ServerOptions> tls;
  // Set in addition to `tls`, whose key pair they replace.
  std::optional<HttpCertificateFiles> certificate_files;
  int threads = 1;
  // Beyond this limit the connection that has waited longest for its peer's next request is closed
  // for a new one; if all of them are being answered, the one where that takes longest.
  size_t max_connections = SIZE_MAX;
  // How many connections may have an incomplete TLS handshake. Beyond this limit the oldest of them
  // is closed for a new one. Anybody can open them, so they must not keep out those that are
  // served.
  size_t max_handshakes = SIZE_MAX;
  HttpHeadCheck check_head;    // Optional.
  HttpHeadReview review_head;  // Optional. For what check_head accepts.
  size_t max_body_bytes = 4 << 20;
  // The response to a longer body.
  HttpResponse body_too_long = {413, "text/plain", {}, "request body too large\n"};
  // All bodies of more than max_short_body_bytes together, from their acceptance (check_head,
  // review_head) to the end of HttpRequest::body_share. One of unknown length counts as
  // max_body_bytes. The bodies of those who are privileged may be as many again. One that comes so
  // slowly that it would miss request_timeout is refused as soon as another one needs its place.
  size_t max_bodies_bytes = SIZE_MAX;
  size_t max_short_body_bytes = 16 << 10;
  // Makes the response to one for which there is no room at the moment; called on any thread.
  std::function<HttpResponse()> too_many_bodies = [] {
    return HttpResponse{429, "text/plain", {{"Retry-After", "1"}}, "too many bodies\n"};
  };
  size_t max_header_bytes = 32 << 10;
  // All heads of more than 4 KiB together that are not complete. Beyond it the oldest is cut.
  size_t max_heads_bytes = SIZE_MAX;
  size_t max_stream_backlog_bytes = 64 << 20;
  size_t stream_window_bytes = 256 << 10;  // See HttpStream::HasRoom().
  // What waits to be taken by the peers of all connections, and by the readers of all tunnels,
  // together. Beyond it, those for which nothing was taken for the longest time are cut. From the
  // half of it on the window of a stream is 16 KiB.
  size_t max_outputs_bytes = SIZE_MAX;
  // How long bytes may wait for the peer of a stream or tunnel.
  absl::Duration stall_timeout = absl::InfiniteDuration();
  // After this many requests, or this long after its start, a connection is closed with the answer
  // to its request ("Connection: close"), so that clients spread over several servers again.
  size_t max_requests_per_connection = SIZE_MAX;
  absl::Duration max_connection_age = absl::InfiniteDuration();
  // The probability with which any other answer closes its connection, too: what --goaway-chance
  // of kube-apiserver is for HTTP/2.
  double close_chance = 0;
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
  // Changes what new connections use; open ones stay as they are. kInvalidArgument leaves
  // everything as it was. REQUIRES: the server was started with TLS. With certificate_files the key
  // pair in `options` is ignored. Thread-safe.
  virtual absl::Status ReplaceTls(tls::ServerOptions options) = 0;
  // Ends service without breaking off answers: accepts no more connections, closes those that wait
  // for a request, closes the others with the end of their answers, and waits until none is left or
  // `patience` is over. Returns whether none is left. Streams and tunnels have to be ended by who
  // writes them. Stop() comes afterwards. REQUIRES: is not called on a server thread.
  virtual bool Drain(absl::Duration patience) = 0;
  // Closes the listener and every connection, then joins the threads.
  virtual void Stop() = 0;
  // Cuts every open connection but keeps listening (fault injection).
  virtual void DropConnections() = 0;
};

}  // namespace base

#endif  // BASE_HTTP_SERVER_H_
