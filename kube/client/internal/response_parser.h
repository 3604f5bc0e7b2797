// Reads one HTTP/1.1 answer from bytes that arrive cut at any place.
#ifndef KUBE_CLIENT_INTERNAL_RESPONSE_PARSER_H_
#define KUBE_CLIENT_INTERNAL_RESPONSE_PARSER_H_

#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <optional>

#include "absl/status/status.h"
#include "absl/strings/string_view.h"
#include "kube/client/transport.h"

namespace kube {

// Whatever the peer sends, this keeps no more than 64 kB beside the head. Not thread-safe.
class ResponseParser {
 public:
  struct Options {
    std::optional<uint64_t> max_body_bytes;  // nullopt: no limit.
    bool no_body = false;                    // The answer to CONNECT.
  };
  // All are optional. An error of on_body ends the parsing.
  struct Callbacks {
    std::function<void(const HttpResponse& head)> on_head;
    std::function<absl::Status(absl::string_view bytes)> on_body;
  };

  ResponseParser(const Options& options, Callbacks callbacks);
  ~ResponseParser();

  // kResourceExhausted: the head is larger than 64 kB, or the body than allowed; kUnavailable: this
  // is not HTTP. Interim answers (1xx) are passed over. After an error, or when done, no more bytes
  // may come.
  absl::Status Feed(absl::string_view bytes);
  // The connection has ended. `properly`: the peer said so, nobody cut it. kUnavailable unless the
  // answer is whole.
  absl::Status End(bool properly);

  bool started() const;  // At least one byte has come.
  bool done() const;
  // Returns whether the connection can be used for another request. REQUIRES: done().
  bool keeps_connection() const;
  // Its code is 0 before the head has come whole. REQUIRES: callbacks did not move from it.
  HttpResponse& head();

 private:
  class Impl;
  std::unique_ptr<Impl> impl_;
};

}  // namespace kube

#endif  // KUBE_CLIENT_INTERNAL_RESPONSE_PARSER_H_
