// Parses one HTTP/1.1 answer from bytes that arrive in arbitrary pieces.
#ifndef KUBE_HTTP_INTERNAL_RESPONSE_PARSER_H_
#define KUBE_HTTP_INTERNAL_RESPONSE_PARSER_H_

#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <string>

#include "absl/status/status.h"
#include "absl/strings/string_view.h"
#include "kube/http/transport.h"

namespace kube {

// Whatever the peer sends, this stores no more than 64 kB besides the head. Not thread-safe.
class ResponseParser {
 public:
  struct Options {
    std::optional<uint64_t> max_body_bytes;  // nullopt means no limit.
    bool no_body = false;                    // For the answers to CONNECT and HEAD.
    // Takes 101 for the answer; rest() returns what follows it. Otherwise 101 is an error.
    bool accept_upgrade = false;
  };
  // All are optional. An error of on_body ends the parsing.
  struct Callbacks {
    std::function<void(const HttpResponse& head)> on_head;
    std::function<absl::Status(absl::string_view bytes)> on_body;
    // Is called for each header of the answer's head, before on_head, as it came. Interim answers'
    // headers are reported, too, each time before an on_interim.
    std::function<void(absl::string_view name, absl::string_view value)> on_field;
    std::function<void()> on_interim;
  };

  ResponseParser(const Options& options, Callbacks callbacks);
  ~ResponseParser();

  // kResourceExhausted when the head is larger than 64 kB, or the body larger than allowed;
  // kUnavailable when this is not HTTP. Interim answers (1xx) are skipped. REQUIRES: not called
  // after an error, or when done.
  absl::Status Feed(absl::string_view bytes);
  // Call it when the connection has ended; `properly` means that the peer ended it and it was not
  // cut. kUnavailable unless the answer is complete.
  absl::Status End(bool properly);

  bool started() const;  // Returns whether at least one byte has come.
  bool done() const;
  // Returns whether the connection can be used for another request. REQUIRES: done().
  bool keeps_connection() const;
  // Returns the bytes that came after an upgrade's head. REQUIRES: done().
  std::string& rest();
  // Its code is 0 before the whole head has come. REQUIRES: callbacks did not move from it.
  HttpResponse& head();

 private:
  class Impl;
  std::unique_ptr<Impl> impl_;
};

}  // namespace kube

#endif  // KUBE_HTTP_INTERNAL_RESPONSE_PARSER_H_
