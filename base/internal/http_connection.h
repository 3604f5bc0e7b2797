// One accepted connection: reads requests, hands them to the handler, writes answers. Private to
// base/.
#ifndef BASE_INTERNAL_HTTP_CONNECTION_H_
#define BASE_INTERNAL_HTTP_CONNECTION_H_

#include <functional>
#include <memory>

#include <boost/asio/ip/tcp.hpp>
#include <boost/asio/ssl/context.hpp>

#include "base/http_server.h"
#include "base/internal/http_exchange.h"

namespace base::internal {

class Connection {
 public:
  virtual ~Connection() = default;
  // Cuts the connection; any thread.
  virtual void Drop() = 0;
};

// What all connections of a server share. Outlives them.
struct ConnectionContext {
  const HttpServerOptions& options;
  const HttpHandler& handler;
  std::shared_ptr<ServerThreads> threads;
  boost::asio::ssl::context* tls = nullptr;  // Null: plain HTTP.
};

// Starts to serve the socket, whose executor must be a strand. `on_end` runs once, when the
// connection is over.
std::shared_ptr<Connection> StartConnection(boost::asio::ip::tcp::socket socket,
                                            const ConnectionContext& context,
                                            std::function<void()> on_end);

}  // namespace base::internal

#endif  // BASE_INTERNAL_HTTP_CONNECTION_H_
