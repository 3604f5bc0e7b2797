// OpenSSL reads from and writes to the socket through a BIO of its own, which never blocks and
// sends without SIGPIPE. What cannot be done at the moment is repeated when the socket is ready.
//
// A socket that is closed may not be used any more, because its number may be somebody else's by
// then: the BIO asks the socket for its number each time, and steps that were waiting look first.

#include "base/internal/tls_socket.h"

#include <openssl/bio.h>
#include <openssl/err.h>
#include <sys/socket.h>

#include <algorithm>
#include <boost/asio/error.hpp>
#include <boost/asio/post.hpp>
#include <cerrno>
#include <climits>
#include <utility>

namespace base::internal {
namespace {

namespace net = boost::asio;

int HandleOf(BIO* bio) {
  auto* socket = static_cast<Socket*>(BIO_get_data(bio));
  return socket->is_open() ? socket->native_handle() : -1;
}

bool IsNotReady() { return errno == EAGAIN || errno == EWOULDBLOCK || errno == EINTR; }

int ReadBelow(BIO* bio, char* buffer, int size) {
  BIO_clear_retry_flags(bio);
  const ssize_t got = recv(HandleOf(bio), buffer, static_cast<size_t>(size), MSG_DONTWAIT);
  if (got < 0 && IsNotReady()) BIO_set_retry_read(bio);
  // With BIO_CTRL_EOF OpenSSL asks whether this was the end rather than a failure.
  if (got == 0) BIO_set_flags(bio, BIO_FLAGS_IN_EOF);
  return static_cast<int>(got);
}

int WriteBelow(BIO* bio, const char* bytes, int size) {
  BIO_clear_retry_flags(bio);
  const ssize_t sent =
      send(HandleOf(bio), bytes, static_cast<size_t>(size), MSG_DONTWAIT | MSG_NOSIGNAL);
  if (sent < 0 && IsNotReady()) BIO_set_retry_write(bio);
  return static_cast<int>(sent);
}

long ControlBelow(BIO* bio, int command, long, void*) {  // NOLINT: OpenSSL's types.
  if (command == BIO_CTRL_EOF) return BIO_test_flags(bio, BIO_FLAGS_IN_EOF) != 0 ? 1 : 0;
  return command == BIO_CTRL_FLUSH ? 1 : 0;
}

BIO_METHOD* SocketMethod() {
  static BIO_METHOD* const method = [] {
    BIO_METHOD* made = BIO_meth_new(BIO_get_new_index() | BIO_TYPE_SOURCE_SINK, "asio socket");
    BIO_meth_set_read(made, &ReadBelow);
    BIO_meth_set_write(made, &WriteBelow);
    BIO_meth_set_ctrl(made, &ControlBelow);
    return made;
  }();
  return method;
}

}  // namespace

TlsSocket::TlsSocket(Socket socket, std::shared_ptr<net::ssl::context> context)
    : socket_(std::move(socket)), context_(std::move(context)) {}

void TlsSocket::Handshake(Done done) {
  socket_.async_wait(Socket::wait_read, [this, done = std::move(done)](const ErrorCode& error) {
    // OpenSSL's state is made when the first bytes have arrived: a connection that says nothing
    // costs only its socket.
    if (error || !socket_.is_open()) return done(net::error::operation_aborted, 0);
    ssl_.reset(SSL_new(context_->native_handle()));
    BIO* bio = BIO_new(SocketMethod());
    if (ssl_ == nullptr || bio == nullptr) {
      BIO_free(bio);
      return done(net::error::no_memory, 0);
    }
    BIO_set_data(bio, &socket_);
    BIO_set_init(bio, 1);
    SSL_set_bio(ssl_.get(), bio, bio);
    Run([this] { return SSL_accept(ssl_.get()); }, done, /*at_once=*/false);
  });
}

void TlsSocket::ReadSome(net::mutable_buffer into, Done done) {
  const int size = static_cast<int>(std::min<size_t>(into.size(), INT_MAX));
  Run([this, into, size] { return SSL_read(ssl_.get(), into.data(), size); }, done,
      /*at_once=*/true);
}

// Without partial writes OpenSSL returns when everything has been sent, and goes on where it was
// when the call is repeated.
void TlsSocket::Write(absl::string_view bytes, Done done) {
  if (bytes.empty()) return Finish({}, 0, done, /*at_once=*/true);
  Run([this, bytes] { return SSL_write(ssl_.get(), bytes.data(), static_cast<int>(bytes.size())); },
      done, /*at_once=*/true);
}

void TlsSocket::SendEnd(Done done) {
  // 0: the peer has not said the same yet.
  Run(
      [this] {
        const int result = SSL_shutdown(ssl_.get());
        return result == 0 ? 1 : result;
      },
      done, /*at_once=*/true);
}

void TlsSocket::Run(const Call& call, const Done& done, bool at_once) {
  if (!socket_.is_open()) return Finish(net::error::operation_aborted, 0, done, at_once);
  ERR_clear_error();
  // The queue of errors belongs to the thread: what another connection has left would count as this
  // call's.
  const int result = call();
  if (result > 0) return Finish({}, static_cast<size_t>(result), done, at_once);
  const int verdict = SSL_get_error(ssl_.get(), result);
  ERR_clear_error();
  if (verdict == SSL_ERROR_ZERO_RETURN) return Finish(net::error::eof, 0, done, at_once);
  if (verdict != SSL_ERROR_WANT_READ && verdict != SSL_ERROR_WANT_WRITE) {
    return Finish(net::error::connection_aborted, 0, done, at_once);
  }
  socket_.async_wait(verdict == SSL_ERROR_WANT_READ ? Socket::wait_read : Socket::wait_write,
                     [this, call, done](const ErrorCode& error) {
                       if (error) return done(error, 0);
                       Run(call, done, /*at_once=*/false);
                     });
}

void TlsSocket::Finish(const ErrorCode& error, size_t count, const Done& done, bool at_once) {
  if (!at_once) return done(error, count);
  // A callback never runs inside of the call that it belongs to.
  net::post(socket_.get_executor(), [error, count, done] { done(error, count); });
}

}  // namespace base::internal
