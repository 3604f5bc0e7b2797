// Bytes in both directions without blocking: a socket, or TLS over another layer.
#ifndef KUBE_HTTP_INTERNAL_BYTE_LAYER_H_
#define KUBE_HTTP_INTERNAL_BYTE_LAYER_H_

#include <cstddef>
#include <memory>
#include <string>

#include "absl/status/status.h"
#include "absl/strings/string_view.h"

struct ssl_st;  // SSL of OpenSSL.

namespace kube {

enum class IoState {
  kDone,       // At least one byte was read or written; `bytes` says how many.
  kWantRead,   // Try again when the socket can be read.
  kWantWrite,  // Try again when the socket can be written.
  kEnd,        // The peer has ended its side properly.
  kBroken,     // Any failure; `error` describes it.
};

struct IoResult {
  IoState state;
  size_t bytes = 0;
  std::string error;
};

class ByteLayer {
 public:
  virtual ~ByteLayer() = default;
  virtual IoResult Read(char* buffer, size_t size) = 0;
  virtual IoResult Write(absl::string_view bytes) = 0;
  // Returns whether the layer holds received bytes that a poll() of the socket would not announce.
  virtual bool has_pending() const { return false; }
};

// Owns the socket.
class SocketLayer : public ByteLayer {
 public:
  explicit SocketLayer(int fd) : fd_(fd) {}
  SocketLayer(const SocketLayer&) = delete;
  ~SocketLayer() override;
  IoResult Read(char* buffer, size_t size) override;
  IoResult Write(absl::string_view bytes) override;
  int fd() const { return fd_; }
  // Returns whether there is nothing to read: no bytes, no end, no error.
  bool IsEmpty() const;

 private:
  const int fd_;
};

// TLS over `below`. Use after Handshake() has said kDone.
//
// OpenSSL handles messages that carry no data (session tickets, key updates) by itself and reads on
// within the same call, for as long as the peer sends more of them. A call that has read
// kMostPerCall bytes from below and not come to an end gives up: kBroken.
class TlsLayer : public ByteLayer {
 public:
  // The limit for one call; a record has 16 kB, a handshake at most 100 kB, a ticket some hundred
  // bytes.
  static constexpr size_t kMostPerCall = 256 << 10;
  // The layer below, as OpenSSL uses it.
  struct Below {
    std::unique_ptr<ByteLayer> layer;
    size_t left = kMostPerCall;  // How many bytes the present call may still read.
  };

  // Takes over `ssl`, a client's.
  TlsLayer(ssl_st* ssl, std::unique_ptr<ByteLayer> below);
  ~TlsLayer() override;
  // kDone means that the peer has proved its identity.
  IoResult Handshake();
  IoResult Read(char* buffer, size_t size) override;
  IoResult Write(absl::string_view bytes) override;
  bool has_pending() const override;

 private:
  void BeginCall();
  IoResult Failed(int result);
  void ReleaseBuffers();
  std::string Reason(int ssl_error, unsigned long code) const;  // NOLINT: OpenSSL's type.

  Below below_;
  ssl_st* const ssl_;
};

}  // namespace kube

#endif  // KUBE_HTTP_INTERNAL_BYTE_LAYER_H_
