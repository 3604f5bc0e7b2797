// The server's side of TLS over a TCP socket. Private to base/.
#ifndef BASE_INTERNAL_TLS_SOCKET_H_
#define BASE_INTERNAL_TLS_SOCKET_H_

#include <boost/asio/basic_stream_socket.hpp>
#include <boost/asio/buffer.hpp>
#include <boost/asio/io_context.hpp>
#include <boost/asio/ip/tcp.hpp>
#include <boost/asio/ssl/context.hpp>
#include <boost/asio/strand.hpp>
#include <cstddef>
#include <functional>
#include <memory>

#include "absl/strings/string_view.h"
#include "base/internal/openssl.h"

namespace base::internal {

using Strand = boost::asio::strand<boost::asio::io_context::executor_type>;
using Socket = boost::asio::basic_stream_socket<boost::asio::ip::tcp, Strand>;

// Costs next to nothing until the peer has sent something, and has no buffers while nothing is
// under way: asio's own stream keeps 70 kB from its construction on. Functions are called, and
// call back, on the socket's strand. At most one call of each function is under way.
class TlsSocket {
 public:
  using ErrorCode = boost::system::error_code;
  // Is called later, never inside the function that it was given to. It keeps the socket alive.
  using Done = std::function<void(const ErrorCode& error, size_t count)>;

  TlsSocket(Socket socket, std::shared_ptr<boost::asio::ssl::context> context);
  TlsSocket(const TlsSocket&) = delete;

  Socket& lowest_layer() { return socket_; }
  Socket::executor_type get_executor() { return socket_.get_executor(); }
  // Null before the handshake has begun.
  SSL* native_handle() { return ssl_.get(); }

  void Handshake(Done done);
  // REQUIRES, for this and the next ones: the handshake has succeeded. The error is eof when the
  // peer has ended its side properly.
  void ReadSome(boost::asio::mutable_buffer into, Done done);
  // Writes all bytes, which have to stay where they are until `done`, and are less than 2 GB.
  void Write(absl::string_view bytes, Done done);
  // Tells the peer that nothing more will be sent. Reading may go on.
  void SendEnd(Done done);

 private:
  using SslPtr = std::unique_ptr<SSL, tls::internal::Freer<SSL_free>>;
  // Calls OpenSSL once; returns its result, which is above 0 when it has done something.
  using Call = std::function<int()>;

  // Repeats the call, as the socket becomes ready, until it has done something or failed.
  // `at_once`: the present function may not call back.
  void Run(const Call& call, const Done& done, bool at_once);
  void Finish(const ErrorCode& error, size_t count, const Done& done, bool at_once);

  Socket socket_;
  const std::shared_ptr<boost::asio::ssl::context> context_;
  SslPtr ssl_;
};

}  // namespace base::internal

#endif  // BASE_INTERNAL_TLS_SOCKET_H_
