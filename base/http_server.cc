#include "base/http_server.h"

#include <set>
#include <thread>
#include <utility>
#include <vector>

#include <boost/asio/executor_work_guard.hpp>
#include <boost/asio/io_context.hpp>
#include <boost/asio/ip/tcp.hpp>
#include <boost/asio/post.hpp>
#include <boost/asio/ssl/context.hpp>
#include <boost/asio/strand.hpp>

#include "absl/strings/str_cat.h"
#include "absl/synchronization/mutex.h"
#include "base/internal/http_connection.h"
#include "base/internal/http_exchange.h"
#include "base/status.h"

namespace base {
namespace {

namespace net = boost::asio;
using boost::system::error_code;
using net::ip::tcp;

// "host:port", "[v6]:port" or ":port" (every address).
absl::StatusOr<tcp::endpoint> ParseAddress(net::io_context& io, const std::string& address) {
  const size_t colon = address.rfind(':');
  if (colon == std::string::npos) {
    return absl::InvalidArgumentError(absl::StrCat("address \"", address, "\" has no port"));
  }
  std::string host = address.substr(0, colon);
  if (host.size() > 1 && host.front() == '[' && host.back() == ']')
    host = host.substr(1, host.size() - 2);
  if (host.empty()) host = "0.0.0.0";
  error_code error;
  tcp::resolver resolver(io);
  const auto found =
      resolver.resolve(host, address.substr(colon + 1),
                       tcp::resolver::passive | tcp::resolver::numeric_service, error);
  if (error || found.empty()) {
    return absl::InvalidArgumentError(absl::StrCat("address \"", address, "\": ", error.message()));
  }
  return found.begin()->endpoint();
}

class Server : public HttpServer {
 public:
  Server(HttpServerOptions options, HttpHandler handler)
      : options_(std::move(options)),
        handler_(std::move(handler)),
        work_(net::make_work_guard(io_)),
        acceptor_(io_),
        tls_(net::ssl::context::tls_server),
        posts_(std::make_shared<internal::ServerThreads>(
            [this](std::function<void()> f) { net::post(io_, std::move(f)); })) {}

  ~Server() override { Stop(); }

  absl::Status Open() {
    if (options_.tls) {
      RETURN_IF_ERROR(tls::ConfigureServer(tls_.native_handle(), *options_.tls));
    }
    ASSIGN_OR_RETURN(const tcp::endpoint endpoint, ParseAddress(io_, options_.address));
    error_code error;
    acceptor_.open(endpoint.protocol(), error);
    if (!error) acceptor_.set_option(tcp::acceptor::reuse_address(true), error);
    if (!error) acceptor_.bind(endpoint, error);
    if (!error) acceptor_.listen(net::socket_base::max_listen_connections, error);
    if (error) {
      return absl::UnavailableError(
          absl::StrCat("listening on ", options_.address, ": ", error.message()));
    }
    port_ = acceptor_.local_endpoint(error).port();
    Accept();
    for (int i = 0; i < options_.threads; ++i) threads_.emplace_back([this] { io_.run(); });
    return absl::OkStatus();
  }

  int port() const override { return port_; }
  void Stop() override;
  void DropConnections() override;

 private:
  using ConnectionPtr = std::shared_ptr<internal::Connection>;

  void Accept();
  void Add(tcp::socket socket);

  const HttpServerOptions options_;
  const HttpHandler handler_;
  net::io_context io_;
  net::executor_work_guard<net::io_context::executor_type> work_;
  tcp::acceptor acceptor_;
  net::ssl::context tls_;
  const std::shared_ptr<internal::ServerThreads> posts_;
  std::vector<std::thread> threads_;
  int port_ = 0;
  absl::Mutex mu_;
  int64_t next_id_ ABSL_GUARDED_BY(mu_) = 0;
  int open_ ABSL_GUARDED_BY(mu_) = 0;
  bool stopped_ ABSL_GUARDED_BY(mu_) = false;
  std::map<int64_t, std::weak_ptr<internal::Connection>> connections_ ABSL_GUARDED_BY(mu_);
};

void Server::Accept() {
  acceptor_.async_accept(net::make_strand(io_),
                         [this](const error_code& error, tcp::socket socket) {
                           if (error == net::error::operation_aborted || !acceptor_.is_open())
                             return;
                           if (!error) Add(std::move(socket));
                           Accept();
                         });
}

void Server::Add(tcp::socket socket) {
  int64_t id = 0;
  {
    absl::MutexLock lock(&mu_);
    if (stopped_) return;
    id = next_id_++;
    ++open_;
  }
  const auto executor = socket.get_executor();
  // On the connection's strand, so that it cannot run before it is in the map.
  net::post(executor, [this, id, s = std::make_shared<tcp::socket>(std::move(socket))] {
    const auto on_end = [this, id] {
      absl::MutexLock lock(&mu_);
      connections_.erase(id);
      --open_;
    };
    const internal::ConnectionContext context{options_, handler_, posts_,
                                              options_.tls ? &tls_ : nullptr};
    const ConnectionPtr connection = internal::StartConnection(std::move(*s), context, on_end);
    absl::MutexLock lock(&mu_);
    connections_[id] = connection;
    if (stopped_) connection->Drop();
  });
}

void Server::DropConnections() {
  std::vector<ConnectionPtr> all;
  {
    absl::MutexLock lock(&mu_);
    for (const auto& [id, weak] : connections_) {
      if (ConnectionPtr connection = weak.lock()) all.push_back(std::move(connection));
    }
  }
  for (const ConnectionPtr& connection : all) connection->Drop();
}

void Server::Stop() {
  {
    absl::MutexLock lock(&mu_);
    if (std::exchange(stopped_, true)) return;
  }
  net::post(io_, [this] {
    error_code ignored;
    acceptor_.close(ignored);
  });
  DropConnections();
  {
    absl::MutexLock lock(&mu_);
    mu_.AwaitWithTimeout(absl::Condition(
                             +[](int* open) { return *open == 0; }, &open_),
                         absl::Seconds(2));
  }
  posts_->Retire();
  work_.reset();
  io_.stop();
  for (std::thread& thread : threads_) thread.join();
}

}  // namespace

absl::StatusOr<std::unique_ptr<HttpServer>> HttpServer::Start(HttpServerOptions options,
                                                              HttpHandler handler) {
  auto server = std::make_unique<Server>(std::move(options), std::move(handler));
  RETURN_IF_ERROR(server->Open());
  return std::unique_ptr<HttpServer>(std::move(server));
}

}  // namespace base
