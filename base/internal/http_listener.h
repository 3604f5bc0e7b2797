// Listening sockets. Private to base/.
#ifndef BASE_INTERNAL_HTTP_LISTENER_H_
#define BASE_INTERNAL_HTTP_LISTENER_H_

#include <boost/asio/io_context.hpp>
#include <boost/asio/ip/tcp.hpp>
#include <boost/asio/steady_timer.hpp>
#include <functional>
#include <memory>

#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"
#include "base/internal/http_connection.h"

namespace base::internal {

// Accepts connections until it is closed. All functions but Open and port run on one strand of the
// io_context.
class HttpListener : public std::enable_shared_from_this<HttpListener> {
 public:
  using OnAccept = std::function<void(Socket)>;
  // kUnavailable when `address` (host:port, an empty host meaning every address) cannot be bound,
  // kInvalidArgument when it is not an address.
  static absl::StatusOr<std::shared_ptr<HttpListener>> Open(boost::asio::io_context& io,
                                                            absl::string_view address);
  explicit HttpListener(boost::asio::io_context& io);

  int port() const;
  void Accept(OnAccept on_accept);  // REQUIRES: is called once.
  void Close();                     // Thread-safe.

 private:
  using Acceptor = boost::asio::basic_socket_acceptor<boost::asio::ip::tcp, Strand>;
  using Timer = boost::asio::basic_waitable_timer<
      std::chrono::steady_clock, boost::asio::wait_traits<std::chrono::steady_clock>, Strand>;

  boost::system::error_code Bind(const boost::asio::ip::tcp::endpoint& endpoint);
  void AcceptNext();
  void RetryLater();

  boost::asio::io_context& io_;
  Acceptor acceptor_;
  Timer retry_;
  OnAccept on_accept_;
};

}  // namespace base::internal

#endif  // BASE_INTERNAL_HTTP_LISTENER_H_
