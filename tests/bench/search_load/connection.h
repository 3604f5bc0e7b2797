// A kept connection to an API server, for measuring: as little work per byte as possible.
//
// The handshake blocks, and so does sending; reading does not, so that one thread can read hundreds
// of connections. Whatever goes wrong throws std::runtime_error.
#ifndef TESTS_BENCH_SEARCH_LOAD_CONNECTION_H_
#define TESTS_BENCH_SEARCH_LOAD_CONNECTION_H_

#include <openssl/ssl.h>

#include <cstddef>
#include <functional>
#include <memory>
#include <string>

#include "absl/strings/string_view.h"

namespace load {

// Certificates of who connects; the server's is not verified.
class Tls {
 public:
  // Files in PEM; empty ones: without a certificate.
  Tls(const std::string& certificate_file, const std::string& key_file);

  SSL_CTX* context() const { return context_.get(); }

 private:
  std::unique_ptr<SSL_CTX, decltype(&SSL_CTX_free)> context_;
};

// Reads an answer of HTTP/1.1 from its bytes, and counts those of its body.
class Answer {
 public:
  // `on_body` gets the body's pieces; it may be empty.
  explicit Answer(std::function<void(absl::string_view)> on_body) : on_body_(std::move(on_body)) {}

  // Returns whether the answer is complete now.
  bool Feed(absl::string_view bytes);
  int code() const { return code_; }  // 0: the head is not complete yet.
  size_t body_bytes() const { return body_bytes_; }
  // The beginning of the body, for messages.
  const std::string& beginning() const { return beginning_; }

 private:
  enum class State { kHead, kPlain, kChunkHead, kChunk, kChunkEnd, kTrailer, kDone };

  // Take what they can from the front of `bytes`.
  void TakeHead(absl::string_view& bytes);
  void TakeBody(absl::string_view& bytes);
  void TakeChunkLine(absl::string_view& bytes);
  void ReadHead();
  void EndPiece();

  const std::function<void(absl::string_view)> on_body_;
  State state_ = State::kHead;
  std::string line_;  // The head, or the line about the next chunk, as far as it is here.
  size_t left_ = 0;   // Of the body or the chunk.
  int code_ = 0;
  size_t body_bytes_ = 0;
  std::string beginning_;
};

class Connection {
 public:
  // `address` is "127.0.0.1:1234". Connects and shakes hands.
  Connection(const Tls& tls, const std::string& address);
  ~Connection();
  Connection(const Connection&) = delete;

  int fd() const { return fd_; }
  // Sends a request, whose answer Read() reads into `answer`.
  void Send(absl::string_view request, Answer* answer);
  // Reads what has come. Returns whether the answer is complete.
  bool Read();

 private:
  // Waits until the socket can be read or written, whichever the last call of OpenSSL needs.
  void Wait(int result) const;

  const std::string address_;
  int fd_ = -1;
  std::unique_ptr<SSL, decltype(&SSL_free)> ssl_;
  Answer* answer_ = nullptr;
};

}  // namespace load

#endif  // TESTS_BENCH_SEARCH_LOAD_CONNECTION_H_
