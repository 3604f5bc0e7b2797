// A TLS server that sends exactly the bytes of a test, valid or not, on a real socket.
//
//   TlsServer server(authority, [](TlsPeer& peer) { peer.ReadRequest(); peer.Write("garbage"); });
//   server.port();
#ifndef TESTS_INTERPRETER_WEBHOOK_TLS_SERVER_H_
#define TESTS_INTERPRETER_WEBHOOK_TLS_SERVER_H_

#include <arpa/inet.h>
#include <netinet/in.h>
#include <openssl/ssl.h>
#include <signal.h>
#include <sys/socket.h>
#include <sys/time.h>
#include <unistd.h>

#include <atomic>
#include <functional>
#include <memory>
#include <string>
#include <thread>
#include <utility>

#include "absl/base/thread_annotations.h"
#include "absl/strings/numbers.h"

#include "absl/strings/string_view.h"
#include "absl/synchronization/mutex.h"
#include "base/tls.h"

namespace tests {

// One connection, after the handshake. Reads end after five seconds, as if the peer had gone.
class TlsPeer {
 public:
  explicit TlsPeer(SSL* ssl) : ssl_(ssl) {}

  // Returns the head and the body of the next request; "" when the peer is gone.
  std::string ReadRequest() {
    std::string request;
    size_t head = std::string::npos;
    while ((head = request.find("\r\n\r\n")) == std::string::npos) {
      if (!ReadMore(request)) return "";
    }
    size_t length = 0;
    const size_t field = request.find("Content-Length:");
    if (field < head) {
      const size_t begin = field + 15;
      if (!absl::SimpleAtoi(request.substr(begin, request.find('\r', begin) - begin), &length)) {
        return "";
      }
    }
    while (request.size() < head + 4 + length) {
      if (!ReadMore(request)) return "";
    }
    return request;
  }
  // Returns false when the peer is gone.
  bool Write(absl::string_view bytes) {
    return SSL_write(ssl_, bytes.data(), static_cast<int>(bytes.size())) > 0;
  }
  // Waits until the peer is gone.
  void AwaitEnd() {
    std::string ignored;
    while (ReadMore(ignored)) {
    }
  }

 private:
  bool ReadMore(std::string& into) {
    char bytes[4096];
    const int count = SSL_read(ssl_, bytes, sizeof bytes);
    if (count > 0) into.append(bytes, static_cast<size_t>(count));
    return count > 0;
  }
  SSL* const ssl_;
};

// Runs `script` for one connection after another, on one thread, and closes each afterwards.
class TlsServer {
 public:
  using Script = std::function<void(TlsPeer&)>;

  TlsServer(const tls::KeyPair& pair, Script script)
      : ctx_(SSL_CTX_new(TLS_server_method())),
        script_(std::move(script)),
        listener_(socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0)) {
    signal(SIGPIPE, SIG_IGN);  // OpenSSL writes without MSG_NOSIGNAL.
    static_cast<void>(tls::ConfigureServer(ctx_.get(), {.server = pair}));
    sockaddr_in address = {};
    address.sin_family = AF_INET;
    address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
    socklen_t size = sizeof address;
    bind(listener_, reinterpret_cast<const sockaddr*>(&address), size);
    listen(listener_, 16);
    getsockname(listener_, reinterpret_cast<sockaddr*>(&address), &size);
    port_ = ntohs(address.sin_port);
    thread_ = std::thread([this] { Serve(); });
  }
  ~TlsServer() {
    {
      absl::MutexLock lock(&mu_);
      stop_ = true;
      if (open_ >= 0) shutdown(open_, SHUT_RDWR);  // Ends a script that waits for the peer.
    }
    shutdown(listener_, SHUT_RDWR);
    thread_.join();
    close(listener_);
  }
  TlsServer(const TlsServer&) = delete;

  int port() const { return port_; }
  // Returns how many connections were served to their end.
  int served() const { return served_; }

 private:
  struct Free {
    void operator()(SSL_CTX* ctx) const { SSL_CTX_free(ctx); }
    void operator()(SSL* ssl) const { SSL_free(ssl); }
  };

  void Serve() {
    for (;;) {
      const int fd = accept4(listener_, nullptr, nullptr, SOCK_CLOEXEC);
      if (fd < 0) return;
      if (!Opened(fd)) {
        close(fd);
        return;
      }
      const timeval limit = {.tv_sec = 5, .tv_usec = 0};
      setsockopt(fd, SOL_SOCKET, SO_RCVTIMEO, &limit, sizeof limit);
      setsockopt(fd, SOL_SOCKET, SO_SNDTIMEO, &limit, sizeof limit);
      {
        const std::unique_ptr<SSL, Free> ssl(SSL_new(ctx_.get()));
        SSL_set_fd(ssl.get(), fd);
        TlsPeer peer(ssl.get());
        if (SSL_accept(ssl.get()) == 1) script_(peer);
      }
      Opened(-1);
      close(fd);
      ++served_;
    }
  }

  // Records the open connection; returns false when the server is to stop.
  bool Opened(int fd) {
    absl::MutexLock lock(&mu_);
    open_ = fd;
    return !stop_;
  }

  const std::unique_ptr<SSL_CTX, Free> ctx_;
  const Script script_;
  const int listener_;
  int port_ = 0;
  absl::Mutex mu_;
  bool stop_ ABSL_GUARDED_BY(mu_) = false;
  int open_ ABSL_GUARDED_BY(mu_) = -1;  // The one that is being served.
  std::atomic<int> served_ = 0;
  std::thread thread_;
};

}  // namespace tests

#endif  // TESTS_INTERPRETER_WEBHOOK_TLS_SERVER_H_
