// One connection to a server: through a proxy, with TLS, or neither. Nothing here blocks.
#ifndef KUBE_HTTP_INTERNAL_CONNECTION_H_
#define KUBE_HTTP_INTERNAL_CONNECTION_H_

#include <cstddef>
#include <memory>
#include <optional>
#include <string>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"
#include "absl/time/time.h"
#include "base/clock.h"
#include "kube/http/internal/byte_layer.h"
#include "kube/http/internal/endpoint.h"
#include "kube/http/internal/event_loop.h"
#include "kube/http/internal/proxy.h"
#include "kube/http/internal/proxy_handshake.h"
#include "kube/http/internal/resolver.h"
#include "kube/http/internal/tls_client.h"

namespace kube {

// How a server is reached. Immutable, shared by all connections to it.
struct Route {
  Endpoint server;
  ProxySettings proxy;
  std::shared_ptr<TlsClient> tls;        // Null for a server without TLS.
  std::shared_ptr<TlsClient> proxy_tls;  // Null unless the proxy is an https:// one.
  bool urgent = false;                   // As ConnectionConfig::urgent.

  // The host whose address has to be looked up: the proxy or the server.
  const std::string& dialled_host() const;
  int dialled_port() const;
  // Returns "the proxy http://p:3128" or "h:6443", for messages.
  std::string DialledName() const;
};

// Not thread-safe.
class Connection {
 public:
  // REQUIRES: `addresses` is not empty.
  Connection(std::shared_ptr<const Route> route, Addresses addresses);
  Connection(const Connection&) = delete;
  ~Connection();

  // Continues to establish the connection; returns whether requests can be sent now. If not, call
  // it again when fd() is ready for wants(), both of which may have changed, or at look_again().
  // Errors are kUnavailable, name what failed and where, and end the connection.
  absl::StatusOr<bool> Establish();
  int fd() const;
  short wants() const { return wants_; }  // POLLIN or POLLOUT.
  // Returns fd() and wants() for an event loop.
  Reactor::Interest interest() const;
  base::SteadyTime look_again() const { return look_again_; }

  // For use after a successful Establish(). Read and Write set wants().
  IoResult Read(char* buffer, size_t size);
  IoResult Write(absl::string_view bytes);
  bool has_pending() const { return top_->has_pending(); }
  // Returns whether a kept connection still looks usable, that is, nothing has been received since.
  bool IsQuiet();

 private:
  enum class Phase { kStart, kConnecting, kProxyTls, kProxyTalk, kTls, kReady };
  // The result of a phase.
  enum class Step { kNext, kWait };

  absl::StatusOr<Step> DoPhase();
  absl::StatusOr<Step> Dial();
  absl::StatusOr<Step> AwaitDial();
  absl::StatusOr<Step> NextAddress(absl::string_view why);
  absl::StatusOr<Step> Handshake(absl::string_view what);
  absl::StatusOr<Step> TalkToProxy();
  Phase PhaseAfter(Phase phase);
  void StartTls(TlsClient& tls);
  absl::StatusOr<Step> Wait(const IoResult& result);
  absl::Status Failed(absl::string_view why) const;
  absl::Status ProxyFailed(absl::string_view why) const;
  void Note(const IoResult& result);

  const std::shared_ptr<const Route> route_;
  const Addresses addresses_;
  size_t next_address_ = 0;
  Phase phase_ = Phase::kStart;
  SocketLayer* socket_ = nullptr;    // The lowest layer, owned by top_.
  TlsLayer* handshaking_ = nullptr;  // top_, while a handshake is under way.
  std::unique_ptr<ByteLayer> top_;
  std::unique_ptr<ProxyHandshake> proxy_handshake_;
  std::string to_proxy_;
  std::string failures_;  // The reasons why earlier addresses failed.
  short wants_ = 0;
  base::SteadyTime look_again_ = base::SteadyTime::InfiniteFuture();
};

}  // namespace kube

#endif  // KUBE_HTTP_INTERNAL_CONNECTION_H_
