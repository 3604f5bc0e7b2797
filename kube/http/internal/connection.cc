// A connection is established in phases: TCP to the server or its proxy; TLS with the proxy, for an
// https:// one; the handshake with the proxy; TLS with the server. Each phase either ends, and the
// next one begins at once, or has to wait for the socket. Of several addresses the next one is
// tried when one fails or does not answer for some seconds.

#include "kube/http/internal/connection.h"

#include <fcntl.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <poll.h>
#include <sys/socket.h>

#include <cerrno>
#include <cstring>
#include <utility>

#include "absl/strings/str_cat.h"
#include "base/status.h"
#include "kube/http/internal/event_loop.h"

namespace kube {
namespace {

// How long one of several addresses may take before the next one is tried.
constexpr absl::Duration kAddressPatience = absl::Seconds(3);

// Peers that vanish silently (a node that lost its power) are noticed within about a minute.
constexpr int kKeepAliveIdle = 30;
constexpr int kKeepAliveInterval = 10;
constexpr int kKeepAliveCount = 4;

void SetOptions(int fd) {
  const auto set = [fd](int level, int option, int value) {
    setsockopt(fd, level, option, &value, sizeof value);
  };
  set(IPPROTO_TCP, TCP_NODELAY, 1);
  set(SOL_SOCKET, SO_KEEPALIVE, 1);
  set(IPPROTO_TCP, TCP_KEEPIDLE, kKeepAliveIdle);
  set(IPPROTO_TCP, TCP_KEEPINTVL, kKeepAliveInterval);
  set(IPPROTO_TCP, TCP_KEEPCNT, kKeepAliveCount);
}

const char* ReasonOf(int error) {
  return error == ECONNREFUSED ? "connection refused" : std::strerror(error);
}

}  // namespace

const std::string& Route::dialled_host() const {
  return proxy.kind == ProxySettings::Kind::kNone ? server.host : proxy.host;
}

int Route::dialled_port() const {
  return proxy.kind == ProxySettings::Kind::kNone ? server.port : proxy.port;
}

std::string Route::DialledName() const {
  if (proxy.kind == ProxySettings::Kind::kNone) return server.Authority();
  return absl::StrCat("the proxy ", proxy.Name());
}

Connection::Connection(std::shared_ptr<const Route> route, Addresses addresses)
    : route_(std::move(route)), addresses_(std::move(addresses)) {}

Connection::~Connection() = default;

int Connection::fd() const { return socket_ == nullptr ? -1 : socket_->fd(); }

Reactor::Interest Connection::interest() const {
  // The next socket may have the number of the last one: the count of addresses tells them apart.
  return {fd(), static_cast<int>(next_address_), wants_};
}

absl::StatusOr<bool> Connection::Establish() {
  while (phase_ != Phase::kReady) {
    ASSIGN_OR_RETURN(const Step step, DoPhase());
    if (step == Step::kWait) return false;
  }
  return true;
}

absl::StatusOr<Connection::Step> Connection::DoPhase() {
  switch (phase_) {
    case Phase::kStart:
      return Dial();
    case Phase::kConnecting:
      return AwaitDial();
    case Phase::kProxyTls:
      return Handshake("TLS handshake with the proxy");
    case Phase::kProxyTalk:
      return TalkToProxy();
    case Phase::kTls:
      return Handshake("TLS handshake");
    case Phase::kReady:
      break;
  }
  return Step::kNext;
}

absl::StatusOr<Connection::Step> Connection::Dial() {
  const SocketAddress& address = addresses_[next_address_++];
  const auto* where = reinterpret_cast<const sockaddr*>(&address.storage);
  const int fd = socket(where->sa_family, SOCK_STREAM | SOCK_NONBLOCK | SOCK_CLOEXEC, 0);
  if (fd < 0) return Failed(absl::StrCat("no socket: ", std::strerror(errno)));
  auto layer = std::make_unique<SocketLayer>(fd);
  socket_ = layer.get();
  top_ = std::move(layer);
  SetOptions(fd);
  phase_ = Phase::kConnecting;
  // The last address may use all of the time that is left.
  const bool last = next_address_ == addresses_.size();
  look_again_ = last ? base::SteadyTime::InfiniteFuture() : SteadyNow() + kAddressPatience;
  if (connect(fd, where, address.size) != 0 && errno != EINPROGRESS) {
    return NextAddress(ReasonOf(errno));
  }
  wants_ = POLLOUT;
  return Step::kWait;
}

absl::StatusOr<Connection::Step> Connection::AwaitDial() {
  pollfd ready = {fd(), POLLOUT, 0};
  // Not ready: either the timer has woken this call, or another event.
  if (poll(&ready, 1, 0) == 0) {
    if (SteadyNow() < look_again_) return Step::kWait;
    return NextAddress("no answer");
  }
  int error = 0;
  socklen_t size = sizeof error;
  // A connection that was refused is ready for writing, too; only this tells which it is.
  getsockopt(fd(), SOL_SOCKET, SO_ERROR, &error, &size);
  if (error != 0) return NextAddress(ReasonOf(error));
  look_again_ = base::SteadyTime::InfiniteFuture();
  phase_ = PhaseAfter(Phase::kConnecting);
  return Step::kNext;
}

absl::StatusOr<Connection::Step> Connection::NextAddress(absl::string_view why) {
  // A single numeric address is part of the name already.
  const std::string at = addresses_.size() > 1 || !NumericAddress(route_->dialled_host(), 0)
                             ? absl::StrCat(" (", addresses_[next_address_ - 1].ToString(), ")")
                             : "";
  absl::StrAppend(&failures_, failures_.empty() ? "" : "; ", why, at);
  if (next_address_ == addresses_.size()) return Failed(failures_);
  phase_ = Phase::kStart;
  return Step::kNext;
}

Connection::Phase Connection::PhaseAfter(Phase phase) {
  if (phase == Phase::kConnecting && route_->proxy_tls != nullptr) {
    StartTls(*route_->proxy_tls);
    return Phase::kProxyTls;
  }
  if (phase == Phase::kConnecting || phase == Phase::kProxyTls) {
    proxy_handshake_ = NewProxyHandshake(route_->proxy, route_->server);
    if (proxy_handshake_ != nullptr) {
      to_proxy_ = proxy_handshake_->Begin();
      return Phase::kProxyTalk;
    }
  }
  if (phase != Phase::kTls && route_->tls != nullptr) {
    StartTls(*route_->tls);
    return Phase::kTls;
  }
  return Phase::kReady;
}

void Connection::StartTls(TlsClient& tls) {
  std::unique_ptr<TlsLayer> layer = tls.Connect(std::move(top_));
  // top_ owns the layer, and it owns the one below: TLS with the server can lie upon TLS with the
  // proxy.
  handshaking_ = layer.get();
  top_ = std::move(layer);
}

absl::StatusOr<Connection::Step> Connection::Wait(const IoResult& result) {
  Note(result);
  return Step::kWait;
}

void Connection::Note(const IoResult& result) {
  wants_ = result.state == IoState::kWantWrite ? POLLOUT : POLLIN;
}

absl::StatusOr<Connection::Step> Connection::Handshake(absl::string_view what) {
  const IoResult result = handshaking_->Handshake();
  switch (result.state) {
    case IoState::kDone:
      phase_ = PhaseAfter(phase_);
      return Step::kNext;
    case IoState::kWantRead:
    case IoState::kWantWrite:
      return Wait(result);
    default:
      break;
  }
  const std::string why =
      absl::StrCat(what, ": ", result.error.empty() ? "closed by the peer" : result.error);
  return phase_ == Phase::kProxyTls ? ProxyFailed(why) : absl::UnavailableError(why);
}

absl::StatusOr<Connection::Step> Connection::TalkToProxy() {
  while (!to_proxy_.empty()) {
    const IoResult sent = top_->Write(to_proxy_);
    if (sent.state == IoState::kBroken) return ProxyFailed(sent.error);
    if (sent.state != IoState::kDone) return Wait(sent);
    to_proxy_.erase(0, sent.bytes);
  }
  while (true) {
    char block[512];
    const IoResult got = top_->Read(block, sizeof block);
    if (got.state == IoState::kBroken) return ProxyFailed(got.error);
    if (got.state == IoState::kEnd) return ProxyFailed("it closed the connection");
    if (got.state != IoState::kDone) return Wait(got);
    // No byte of the server is among these: it sends nothing before it has got a ClientHello or a
    // request.
    auto open = proxy_handshake_->Take(absl::string_view(block, got.bytes), to_proxy_);
    if (!open.ok()) return ProxyFailed(open.status().message());
    // The proxy's answer is not complete yet.
    if (!*open && to_proxy_.empty()) continue;
    if (!*open) return TalkToProxy();
    proxy_handshake_ = nullptr;
    phase_ = PhaseAfter(Phase::kProxyTalk);
    return Step::kNext;
  }
}

absl::Status Connection::Failed(absl::string_view why) const {
  return absl::UnavailableError(
      absl::StrCat("cannot connect to ", route_->DialledName(), ": ", why));
}

absl::Status Connection::ProxyFailed(absl::string_view why) const {
  return absl::UnavailableError(absl::StrCat(route_->DialledName(), ": ", why));
}

IoResult Connection::Read(char* buffer, size_t size) {
  IoResult result = top_->Read(buffer, size);
  Note(result);
  return result;
}

IoResult Connection::Write(absl::string_view bytes) {
  IoResult result = top_->Write(bytes);
  Note(result);
  return result;
}

bool Connection::IsQuiet() {
  if (!has_pending() && socket_->IsEmpty()) return true;
  // Bytes have arrived. They may be a session ticket, which is not data.
  char byte = 0;
  // The TLS layer takes what is not data for itself, and then has nothing to give.
  return Read(&byte, 1).state == IoState::kWantRead;
}

}  // namespace kube
