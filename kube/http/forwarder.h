// Requests that are passed on to a server for somebody else: a proxy's side towards a member.
//
// Any method, the headers of the one who asks, an answer that arrives as fast as its reader takes
// it, upgrades (SPDY, WebSocket), over connections that are kept. kube/relay joins it to a server.
#ifndef KUBE_HTTP_FORWARDER_H_
#define KUBE_HTTP_FORWARDER_H_

#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"
#include "absl/time/time.h"
#include "kube/kubeconfig/kubeconfig.h"

namespace kube {

// Headers as they are written, in order; a name may occur several times.
using HeaderFields = std::vector<std::pair<std::string, std::string>>;

// Returns the headers that concern more than one connection: without those that HTTP calls
// hop-by-hop (Connection, whatever it names, Keep-Alive, TE, Upgrade and so on), Content-Length,
// Host and Expect.
HeaderFields EndToEndHeaders(const HeaderFields& fields);
// Removes all headers of this name, in any case.
void RemoveHeader(HeaderFields& fields, absl::string_view name);

struct ForwardRequest {
  std::string method;
  std::string path;  // Escaped path with query, which follows the path of the server's URL.
  // Sent as they are, except that only the end-to-end ones are; the server's Host, and the
  // connection's Authorization and impersonation if it has any, replace those of the caller.
  HeaderFields headers;
  std::string body;
  // Is held for as long as the body may have to be sent, for whoever counts bodies: until the
  // server has got it, or, when it may have to be sent once more, until the answer begins.
  // Optional.
  std::shared_ptr<const void> body_share;
  // The protocol to change to, such as "websocket" or "SPDY/3.1"; "" asks for none.
  std::string upgrade;
  // From the call to an established connection; includes name lookups and credential plugins.
  absl::Duration connect_timeout = absl::Seconds(30);
  // From there to the whole head of the answer; infinite for long-running requests. What follows
  // the head has no limit.
  absl::Duration head_timeout = absl::Seconds(60);
};

struct ForwardHead {
  int code = 0;
  HeaderFields headers;  // The end-to-end ones; for an upgrade "Upgrade", too.
  std::optional<uint64_t> content_length;
  bool upgraded = false;  // The server has changed to the protocol that was requested.
};

class ForwardStream;
using ForwardStreamPtr = std::shared_ptr<ForwardStream>;

// Callbacks are called on one thread for all forwards of this process, one at a time; they must
// neither block nor throw. They are destroyed when the forward has ended or was cancelled.
struct ForwardCallbacks {
  // Is called once, first.
  std::function<void(const ForwardStreamPtr& stream, ForwardHead head)> on_head;
  // Is called once for each Read(), with up to 128 KiB of the body, or of the new protocol's bytes.
  std::function<void(const ForwardStreamPtr& stream, std::string bytes)> on_data;
  // Is called once, last, unless the stream was cancelled: OK when the answer is complete, or the
  // server has closed an upgraded connection; else the reason. kDeadlineExceeded: the head came too
  // late; kUnavailable: no connection (marked by WasNotProcessed) or it broke; kUnauthenticated:
  // credentials could not be obtained; kInvalidArgument: the request cannot be written.
  std::function<void(absl::Status status)> on_end;
};

// A request under way. Thread-safe; all functions may be called inside callbacks, and have no
// effect after the end.
class ForwardStream {
 public:
  virtual ~ForwardStream() = default;
  // Asks for the next bytes, or the end. Without it the server has to wait once the sockets'
  // buffers are full, and the end may go unnoticed.
  virtual void Read() = 0;
  // Ends the request soon. Callbacks may still run until they are destroyed.
  virtual void Cancel() = 0;

  // For upgraded connections. Write queues bytes; false when the stream has ended, or when more
  // than 64 MB wait because the server does not read, which ends it.
  virtual bool Write(std::string bytes) = 0;
  // Returns whether everything queued has been sent, and the connection is open.
  virtual bool HasRoom() const = 0;
  // Calls `callback` once, as soon as there is room, or when the stream ends first, on the thread
  // of the callbacks. Replaces an earlier one. Does nothing when the stream has ended already.
  virtual void OnRoom(std::function<void()> callback) = 0;
  // Ends the connection when everything queued has been sent. on_end follows.
  virtual void EndWriting() = 0;
};

// Forwards requests to one server. Thread-safe. Forwards under way survive it.
class Forwarder {
 public:
  // As NewHttpTransport().
  static absl::StatusOr<std::shared_ptr<Forwarder>> Create(const ConnectionConfig& config);
  virtual ~Forwarder() = default;

  // Does not block. A request on a kept connection that the server had closed is sent again on a
  // new one, except a write that was sent completely. REQUIRES: all callbacks are set. The forward
  // goes on without the returned handle, until it ends.
  virtual ForwardStreamPtr Forward(ForwardRequest request, ForwardCallbacks callbacks) = 0;
  // As Transport::ReplaceToken().
  virtual bool ReplaceToken(const std::string& token) = 0;
  // Returns the server's URL without credentials, for messages.
  virtual const std::string& url() const = 0;
};

}  // namespace kube

#endif  // KUBE_HTTP_FORWARDER_H_
