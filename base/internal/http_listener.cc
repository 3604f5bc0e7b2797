// Open binds the first of the address's endpoints that can be bound; a port that is taken is
// reported instead of trying the next one. Accept starts a chain on the listener's strand: each
// accepted connection is configured and handed over, and the next one is waited for. A failure to
// accept, such as a lack of file descriptors, is logged and tried again after 100 ms. Close, posted
// to the strand, ends the chain.

#include "base/internal/http_listener.h"

#include <fcntl.h>

#include <boost/asio/ip/v6_only.hpp>
#include <boost/asio/post.hpp>
#include <string>
#include <utility>
#include <vector>

#include "absl/strings/str_cat.h"
#include "base/listen_address.h"
#include "base/log.h"
#include "base/status.h"

namespace base::internal {
namespace {

namespace net = boost::asio;
using boost::system::error_code;
using tcp = net::ip::tcp;

absl::Status BindError(absl::string_view address, const error_code& error) {
  return absl::UnavailableError(absl::StrCat("listening on ", address, ": ", error.message()));
}

// Returns the addresses to try, best first.
absl::StatusOr<std::vector<tcp::endpoint>> Resolve(net::io_context& io, absl::string_view address) {
  ASSIGN_OR_RETURN(const ListenAddress where, ParseListenAddress(address));
  if (where.host.empty()) {
    // The IPv6 address also accepts IPv4; a machine without IPv6 can only bind the second.
    return std::vector<tcp::endpoint>{{tcp::v6(), where.port}, {tcp::v4(), where.port}};
  }
  error_code error;
  tcp::resolver resolver(io);
  const auto found = resolver.resolve(where.host, std::to_string(where.port), error);
  if (error) return BindError(address, error);
  return std::vector<tcp::endpoint>(found.begin(), found.end());
}

// Child processes must not inherit ports and connections.
void CloseOnExec(int descriptor) { fcntl(descriptor, F_SETFD, FD_CLOEXEC); }

void Configure(Socket& socket) {
  CloseOnExec(socket.native_handle());
  error_code ignored;  // A connection works without these options.
  socket.set_option(tcp::no_delay(true), ignored);
  // Finds peers that vanished silently while a watch is quiet.
  socket.set_option(net::socket_base::keep_alive(true), ignored);
  socket.set_option(net::detail::socket_option::integer<IPPROTO_TCP, TCP_KEEPIDLE>(30), ignored);
  socket.set_option(net::detail::socket_option::integer<IPPROTO_TCP, TCP_KEEPINTVL>(10), ignored);
  socket.set_option(net::detail::socket_option::integer<IPPROTO_TCP, TCP_KEEPCNT>(3), ignored);
}

}  // namespace

HttpListener::HttpListener(net::io_context& io)
    : io_(io), acceptor_(net::make_strand(io)), retry_(acceptor_.get_executor()) {}

absl::StatusOr<std::shared_ptr<HttpListener>> HttpListener::Open(net::io_context& io,
                                                                 absl::string_view address) {
  ASSIGN_OR_RETURN(const std::vector<tcp::endpoint> endpoints, Resolve(io, address));
  error_code error = net::error::host_not_found;
  for (const tcp::endpoint& endpoint : endpoints) {
    auto listener = std::make_shared<HttpListener>(io);
    error = listener->Bind(endpoint);
    if (!error) return listener;
    // Do not try another address: the port is taken, and that must be reported.
    if (error == net::error::address_in_use) break;
  }
  return BindError(address, error);
}

error_code HttpListener::Bind(const tcp::endpoint& endpoint) {
  error_code error;
  acceptor_.open(endpoint.protocol(), error);
  if (error) return error;
  CloseOnExec(acceptor_.native_handle());
  acceptor_.set_option(net::socket_base::reuse_address(true), error);
  if (endpoint.address().is_v6()) acceptor_.set_option(net::ip::v6_only(false), error);
  acceptor_.bind(endpoint, error);
  if (error) return error;
  acceptor_.listen(net::socket_base::max_listen_connections, error);
  return error;
}

int HttpListener::port() const {
  error_code ignored;  // Cannot fail: the socket is bound.
  return acceptor_.local_endpoint(ignored).port();
}

void HttpListener::Accept(OnAccept on_accept) {
  on_accept_ = std::move(on_accept);
  net::post(acceptor_.get_executor(), [self = shared_from_this()] { self->AcceptNext(); });
}

void HttpListener::Close() {
  net::post(acceptor_.get_executor(), [self = shared_from_this()] {
    error_code ignored;  // Nothing can be done about a failure.
    self->acceptor_.close(ignored);
    self->retry_.cancel();
  });
}

void HttpListener::AcceptNext() {
  if (!acceptor_.is_open()) return;
  acceptor_.async_accept(net::make_strand(io_),
                         [self = shared_from_this()](const error_code& error, Socket socket) {
                           if (error == net::error::operation_aborted) return;
                           if (error) {
                             LogWarning("accepting a connection", {{"err", error.message()}});
                             return self->RetryLater();
                           }
                           Configure(socket);
                           self->on_accept_(std::move(socket));
                           self->AcceptNext();
                         });
}

// A lack of file descriptors is temporary; retrying at once would only burn CPU.
void HttpListener::RetryLater() {
  retry_.expires_after(std::chrono::milliseconds(100));
  retry_.async_wait([self = shared_from_this()](const error_code&) { self->AcceptNext(); });
}

}  // namespace base::internal
