// All threads run one io_context. Each connection has a strand of its own, and so have the listener
// and the sweep, so that the functions of one connection never run at the same time. A connection
// enters the table before it starts; when the table is full, another one is cut for it.
//
// Drain closes the listener and the connections that wait for a request, and lets the others close
// themselves with the end of their answers; it waits until the table is empty.
//
// Stop takes these steps: it seals the table, so that no further connection starts; closes the
// listener; ends the sweep; cuts all connections; and waits for the threads, which end when nothing
// is left to do. Callbacks that are posted from then on run on the thread that posts them (Retire),
// and those that were posted too late for the last thread are run here.

#include "base/http_server.h"

#include <algorithm>
#include <atomic>
#include <boost/asio/executor_work_guard.hpp>
#include <boost/asio/io_context.hpp>
#include <boost/asio/post.hpp>
#include <boost/asio/steady_timer.hpp>
#include <boost/asio/strand.hpp>
#include <chrono>
#include <thread>
#include <utility>

#include "absl/synchronization/mutex.h"
#include "base/clock.h"
#include "base/internal/http_connection.h"
#include "base/internal/http_listener.h"
#include "base/internal/server_tls.h"
#include "base/status.h"
#include "base/threads.h"

namespace base {
namespace {

namespace net = boost::asio;
using boost::system::error_code;

// Timeouts are enforced by a periodic look at all connections, which is cheaper than a timer for
// each.
std::chrono::nanoseconds SweepPeriod(const HttpServerOptions& options) {
  absl::Duration shortest = std::min({options.request_timeout, options.idle_timeout,
                                      options.first_request_timeout, options.stall_timeout});
  if (options.certificate_files) {
    shortest = std::min(shortest, options.certificate_files->period);
  }
  return absl::ToChronoNanoseconds(
      std::clamp(shortest / 4, absl::Milliseconds(5), absl::Seconds(1)));
}

class AsioServer : public HttpServer {
 public:
  AsioServer(HttpServerOptions options, HttpHandler handler)
      : options_(std::move(options)),
        handler_(std::move(handler)),
        io_(std::max(options_.threads, 1)),
        sweep_timer_(net::make_strand(io_)) {}

  ~AsioServer() override { Stop(); }

  absl::Status Open() {
    if (options_.tls) {
      ASSIGN_OR_RETURN(tls_,
                       internal::ServerTls::Create(*options_.tls, options_.certificate_files));
    }
    ASSIGN_OR_RETURN(listener_, internal::HttpListener::Open(io_, options_.address));
    port_ = listener_->port();
    listener_->Accept([this](internal::Socket socket) { Serve(std::move(socket)); });
    Sweep();
    for (int i = 0; i < std::max(options_.threads, 1); ++i) {
      threads_.push_back(StartThread("an HTTP server", [this] { io_.run(); }));
    }
    return absl::OkStatus();
  }

  int port() const override { return port_; }

  absl::Status ReplaceTls(tls::ServerOptions options) override {
    if (tls_ == nullptr) return absl::FailedPreconditionError("this server does not speak TLS");
    return tls_->Replace(std::move(options));
  }

  bool Drain(absl::Duration patience) override {
    draining_ = true;
    listener_->Close();
    for (const auto& connection : table_.All()) connection->CloseIfIdle();
    return table_.AwaitNone(patience);
  }

  void Stop() override {
    absl::MutexLock lock(&stop_mu_);
    if (std::exchange(stopped_, true) || listener_ == nullptr) return;
    table_.Seal();
    listener_->Close();
    net::post(sweep_timer_.get_executor(), [this] {
      sweeping_ = false;
      sweep_timer_.cancel();
    });
    DropConnections();
    for (std::thread& thread : threads_) thread.join();
    context_.threads->Retire();
    // Runs what was posted after the last thread had ended.
    io_.restart();
    io_.poll();
  }

  void DropConnections() override {
    for (const auto& connection : table_.All()) connection->Cut();
  }

 private:
  void Serve(internal::Socket socket) {
    auto connection = tls_
                          ? internal::NewTlsConnection(context_, std::move(socket), tls_->context())
                          : internal::NewPlainConnection(context_, std::move(socket));
    if (table_.Add(connection)) connection->Start();
  }

  void Sweep() {
    if (tls_ != nullptr) tls_->ReloadFiles(RealClock().SteadyNow());
    for (const auto& connection : table_.All()) {
      if (connection->IsOverdue()) connection->Cut();
    }
    sweep_timer_.expires_after(SweepPeriod(options_));
    sweep_timer_.async_wait([this](const error_code& error) {
      if (!error && sweeping_) Sweep();
    });
  }

  const HttpServerOptions options_;
  const HttpHandler handler_;
  internal::WaitingBytes heads_{options_.max_heads_bytes};
  internal::ConnectionTable table_{options_.max_connections, options_.max_handshakes};
  internal::BodyBudget bodies_{
      {.bytes = options_.max_bodies_bytes, .time = options_.request_timeout}};
  std::unique_ptr<internal::ServerTls> tls_;  // Null without TLS.
  std::atomic<bool> draining_ = false;
  const internal::ConnectionContext context_ = {
      options_,
      handler_,
      table_,
      bodies_,
      std::make_shared<internal::WaitingBytes>(options_.max_outputs_bytes),
      heads_,
      std::make_shared<internal::ServerThreads>(
          [this](std::function<void()> work) { net::post(io_, std::move(work)); }),
      draining_};
  net::io_context io_;  // Destroyed before what its connections use.
  std::shared_ptr<internal::HttpListener> listener_;
  net::steady_timer sweep_timer_;
  bool sweeping_ = true;  // Used on the timer's strand only.
  int port_ = 0;
  std::vector<std::thread> threads_;
  absl::Mutex stop_mu_;
  bool stopped_ ABSL_GUARDED_BY(stop_mu_) = false;
};

}  // namespace

absl::StatusOr<std::unique_ptr<HttpServer>> HttpServer::Start(HttpServerOptions options,
                                                              HttpHandler handler) {
  try {
    auto server = std::make_unique<AsioServer>(std::move(options), std::move(handler));
    RETURN_IF_ERROR(server->Open());
    return server;
  } catch (const std::exception& e) {
    return absl::UnavailableError(absl::StrCat("starting an HTTP server: ", e.what()));
  }
}

}  // namespace base
