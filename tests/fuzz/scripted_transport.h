// A server whose every answer is the input of a fuzz target.
#ifndef TESTS_FUZZ_SCRIPTED_TRANSPORT_H_
#define TESTS_FUZZ_SCRIPTED_TRANSPORT_H_

#include <cstdlib>
#include <memory>
#include <string>
#include <utility>

#include "kube/http/transport.h"

namespace tests {

// Answers each request with the same text. A caller that goes on asking for ever is a mistake that
// ends the process.
class ScriptedTransport : public kube::Transport {
 public:
  ScriptedTransport(int code, std::string text) : code_(code), text_(std::move(text)) {}

  absl::StatusOr<kube::HttpResponse> Send(const kube::HttpRequest& /*request*/,
                                          const base::StopToken& /*stop*/) override {
    if (++requests_ > kMostRequests) std::abort();
    return kube::HttpResponse{.code = code_, .headers = {}, .body = text_};
  }

  // The text comes in two pieces.
  std::unique_ptr<kube::HttpStream> Open(const kube::HttpRequest& /*request*/,
                                         kube::StreamCallbacks callbacks) override {
    callbacks.on_head({.code = code_, .headers = {}, .body = ""});
    callbacks.on_data(absl::string_view(text_).substr(0, text_.size() / 2));
    callbacks.on_data(absl::string_view(text_).substr(text_.size() / 2));
    callbacks.on_end(absl::OkStatus());
    return std::make_unique<kube::HttpStream>();
  }

 private:
  static constexpr int kMostRequests = 1000;

  const int code_;
  const std::string text_;
  int requests_ = 0;
};

}  // namespace tests

#endif  // TESTS_FUZZ_SCRIPTED_TRANSPORT_H_
