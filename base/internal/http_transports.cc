// HttpConnection over TCP and over TLS.

#include <boost/asio/post.hpp>
#include <boost/asio/write.hpp>
#include <string>
#include <utility>

#include "absl/strings/str_cat.h"
#include "base/internal/http_connection.h"
#include "base/internal/tls_socket.h"

namespace base::internal {
namespace {

namespace net = boost::asio;

template <class Stream>
class StreamConnection : public HttpConnection {
 public:
  template <class... Args>
  explicit StreamConnection(const ConnectionContext& context, Args&&... args)
      : HttpConnection(context), stream_(std::forward<Args>(args)...) {}

 protected:
  std::shared_ptr<StreamConnection> Self() {
    return std::static_pointer_cast<StreamConnection>(shared_from_this());
  }

  void Post(std::function<void()> work) override {
    net::post(stream_.get_executor(), std::move(work));
  }

  void CloseSocket() override {
    ErrorCode ignored;  // The socket is gone in any case.
    stream_.lowest_layer().close(ignored);
  }

  // Returns "" for a peer that is gone.
  std::string RemoteAddress() {
    ErrorCode error;
    const auto remote = stream_.lowest_layer().remote_endpoint(error);
    if (error) return "";
    std::string host = remote.address().to_string(error);
    if (remote.address().is_v6()) host = absl::StrCat("[", host, "]");
    return absl::StrCat(host, ":", remote.port());
  }

  Stream stream_;
};

class PlainConnection : public StreamConnection<Socket> {
 public:
  using StreamConnection::StreamConnection;

  void Start() override {
    Post([this, self = Self()] { OnReady(); });
  }

 private:
  void Read(net::mutable_buffer into) override {
    stream_.async_read_some(into, [this, self = Self()](const ErrorCode& error, size_t count) {
      OnRead(error, count);
    });
  }

  void Write(absl::string_view bytes) override {
    net::async_write(stream_, net::buffer(bytes.data(), bytes.size()),
                     [this, self = Self()](const ErrorCode& error, size_t) { OnWritten(error); });
  }

  void SendEnd() override {
    ErrorCode ignored;  // The next read reports a peer that is gone.
    stream_.shutdown(Socket::shutdown_send, ignored);
  }

  bool CanHalfClose() const override { return true; }

  PeerFacts Peer() override { return {.address = RemoteAddress()}; }
};

class TlsConnection : public StreamConnection<TlsSocket> {
 public:
  using StreamConnection::StreamConnection;

  void Start() override {
    Post([this, self = Self()] {
      // A client that does not finish the handshake must not keep the connection.
      LimitRequestTime();
      stream_.Handshake([this, self](const ErrorCode& error, size_t) {
        if (error) return Close();
        OnReady();
      });
    });
  }

 private:
  void Read(net::mutable_buffer into) override {
    stream_.ReadSome(into, [this, self = Self()](const ErrorCode& error, size_t count) {
      OnRead(error, count);
    });
  }

  void Write(absl::string_view bytes) override {
    stream_.Write(bytes,
                  [this, self = Self()](const ErrorCode& error, size_t) { OnWritten(error); });
  }

  void SendEnd() override {
    stream_.SendEnd([self = Self()](const ErrorCode&, size_t) {});
  }

  // Readers of tunnels expect that both directions end together.
  bool CanHalfClose() const override { return false; }

  PeerFacts Peer() override {
    return {.identity = tls::PeerOf(stream_.native_handle()),
            .certificates = tls::CertificatesOf(stream_.native_handle()),
            .address = RemoteAddress(),
            .secure = true};
  }
};

}  // namespace

std::shared_ptr<HttpConnection> NewPlainConnection(const ConnectionContext& context,
                                                   Socket socket) {
  return std::make_shared<PlainConnection>(context, std::move(socket));
}

std::shared_ptr<HttpConnection> NewTlsConnection(const ConnectionContext& context, Socket socket,
                                                 std::shared_ptr<net::ssl::context> tls) {
  return std::make_shared<TlsConnection>(context, std::move(socket), std::move(tls));
}

}  // namespace base::internal
