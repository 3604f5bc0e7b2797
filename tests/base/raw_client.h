// A blocking HTTP client that sends exactly the bytes of a test, valid or not.
#ifndef TESTS_BASE_RAW_CLIENT_H_
#define TESTS_BASE_RAW_CLIENT_H_

#include <arpa/inet.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <openssl/ssl.h>
#include <sys/socket.h>
#include <sys/time.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstdlib>
#include <map>
#include <memory>
#include <string>
#include <utility>

#include "absl/strings/ascii.h"
#include "absl/strings/numbers.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_split.h"
#include "absl/strings/string_view.h"
#include "base/tls.h"

namespace tests {

struct RawResponse {
  int code = 0;  // 0: the connection ended before an answer.
  std::map<std::string, std::string> headers;
  std::string body;
};

// Every wait ends after a minute, as if the peer had closed the connection.
class RawClient {
 public:
  explicit RawClient(int port) : fd_(socket(AF_INET, SOCK_STREAM, 0)) {
    const timeval limit = {.tv_sec = 60, .tv_usec = 0};
    setsockopt(fd_, SOL_SOCKET, SO_RCVTIMEO, &limit, sizeof limit);
    setsockopt(fd_, SOL_SOCKET, SO_SNDTIMEO, &limit, sizeof limit);
    sockaddr_in address = {};
    address.sin_family = AF_INET;
    address.sin_port = htons(static_cast<uint16_t>(port));
    address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
    connected_ = connect(fd_, reinterpret_cast<const sockaddr*>(&address), sizeof address) == 0;
  }
  RawClient(const RawClient&) = delete;
  RawClient& operator=(const RawClient&) = delete;
  virtual ~RawClient() { Disconnect(); }

  bool connected() const { return connected_; }
  // Sends at once what is written from now on. Else a request that follows a handshake waits until
  // the server acknowledges that: 40 ms.
  void SendAtOnce() {
    const int on = 1;
    setsockopt(fd_, IPPROTO_TCP, TCP_NODELAY, &on, sizeof on);
  }

  virtual void Disconnect() {
    if (fd_ >= 0) close(std::exchange(fd_, -1));
  }

  // Closes the sending direction; reading goes on.
  void EndSending() { shutdown(fd_, SHUT_WR); }

  // Returns false when the peer has closed the connection.
  bool Send(absl::string_view bytes) {
    while (!bytes.empty()) {
      const int64_t sent = WriteSome(bytes);
      if (sent <= 0) return false;
      bytes.remove_prefix(static_cast<size_t>(sent));
    }
    return true;
  }

  // Returns everything up to and including `mark`, or all bytes if the connection ends first.
  std::string ReadUntil(absl::string_view mark) {
    size_t found = input_.find(mark.data(), 0, mark.size());
    while (found == std::string::npos && ReadMore()) {
      found = input_.find(mark.data(), 0, mark.size());
    }
    return Take(found == std::string::npos ? input_.size() : found + mark.size());
  }

  std::string ReadToEnd() {
    while (ReadMore()) {
    }
    return Take(input_.size());
  }

  // Returns whether the peer ends the connection without sending anything more.
  bool EndsNow() { return ReadToEnd().empty() && ended_; }

  RawResponse ReadHead() {
    RawResponse response;
    const std::string head = ReadUntil("\r\n\r\n");
    bool first = true;
    for (absl::string_view line : absl::StrSplit(head, "\r\n", absl::SkipEmpty())) {
      if (std::exchange(first, false)) {
        if (line.size() > 12) response.code = std::atoi(std::string(line.substr(9, 3)).c_str());
        continue;
      }
      const std::pair<absl::string_view, absl::string_view> field =
          absl::StrSplit(line, absl::MaxSplits(": ", 1));
      response.headers[absl::AsciiStrToLower(field.first)] = std::string(field.second);
    }
    return response;
  }

  // Returns the next chunk of a stream; empty for the last one.
  std::string ReadChunk() {
    const size_t size = std::strtoul(ReadUntil("\r\n").c_str(), nullptr, 16);
    std::string chunk = ReadBytes(size);
    ReadUntil("\r\n");
    return chunk;
  }

  RawResponse ReadResponse() {
    RawResponse response = ReadHead();
    if (response.headers["transfer-encoding"] == "chunked") {
      for (std::string chunk = ReadChunk(); !chunk.empty(); chunk = ReadChunk()) {
        response.body += chunk;
      }
      return response;
    }
    int length = 0;
    if (absl::SimpleAtoi(response.headers["content-length"], &length)) {
      response.body = ReadBytes(static_cast<size_t>(length));
    }
    return response;
  }

  RawResponse Get(absl::string_view target) {
    Send(absl::StrCat("GET ", target, " HTTP/1.1\r\nHost: test\r\n\r\n"));
    return ReadResponse();
  }

 protected:
  int fd() const { return fd_; }
  virtual int64_t WriteSome(absl::string_view bytes) {
    return send(fd_, bytes.data(), bytes.size(), MSG_NOSIGNAL);
  }
  virtual int64_t ReadSome(char* into, size_t size) { return recv(fd_, into, size, 0); }

 private:
  bool ReadMore() {
    char bytes[16 << 10];
    const int64_t count = ReadSome(bytes, sizeof bytes);
    if (count <= 0) {
      ended_ = count == 0 || errno == ECONNRESET;
      return false;
    }
    input_.append(bytes, static_cast<size_t>(count));
    return true;
  }

  std::string ReadBytes(size_t size) {
    while (input_.size() < size && ReadMore()) {
    }
    return Take(std::min(size, input_.size()));
  }

  std::string Take(size_t size) {
    std::string taken = input_.substr(0, size);
    input_.erase(0, size);
    return taken;
  }

  int fd_;
  bool connected_ = false;
  bool ended_ = false;
  std::string input_;
};

// A RawClient over TLS.
class TlsRawClient : public RawClient {
 public:
  TlsRawClient(int port, const tls::ClientCredentials& credentials)
      : RawClient(port), ctx_(SSL_CTX_new(TLS_client_method())) {
    if (!credentials.Apply(ctx_.get()).ok()) return;
    ssl_.reset(SSL_new(ctx_.get()));
    SSL_set_fd(ssl_.get(), fd());
    SSL_set1_host(ssl_.get(), "localhost");
    secure_ = SSL_connect(ssl_.get()) == 1;
  }
  ~TlsRawClient() override { Disconnect(); }

  // Returns whether the handshake succeeded on this side. (With TLS 1.3 the server may still refuse
  // the client's certificate afterwards.)
  bool secure() const { return secure_; }
  // Returns whether the peer announced the end of TLS data instead of just closing the connection.
  bool saw_close_notify() const {
    return ssl_ && (SSL_get_shutdown(ssl_.get()) & SSL_RECEIVED_SHUTDOWN) != 0;
  }

 protected:
  int64_t WriteSome(absl::string_view bytes) override {
    if (!secure_) return -1;
    return SSL_write(ssl_.get(), bytes.data(), static_cast<int>(bytes.size()));
  }
  int64_t ReadSome(char* into, size_t size) override {
    if (!secure_) return 0;
    const int count = SSL_read(ssl_.get(), into, static_cast<int>(size));
    return count > 0 ? count : 0;
  }

 private:
  struct Free {
    void operator()(SSL_CTX* ctx) const { SSL_CTX_free(ctx); }
    void operator()(SSL* ssl) const { SSL_free(ssl); }
  };
  std::unique_ptr<SSL_CTX, Free> ctx_;
  std::unique_ptr<SSL, Free> ssl_;
  bool secure_ = false;
};

}  // namespace tests

#endif  // TESTS_BASE_RAW_CLIENT_H_
