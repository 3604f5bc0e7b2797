// A transport that determines whether the server refuses the token in use.
//
// Each token has a number. A request takes the number before it is sent, so it is sent with that
// token or a later one, and its answer counts only while that number is the last: an answer to an
// earlier token says nothing about the one in use. A refusal counts until another request is
// answered by a server that has accepted the token.
#ifndef KUBE_RUNTIME_INTERNAL_REFUSAL_TRANSPORT_H_
#define KUBE_RUNTIME_INTERNAL_REFUSAL_TRANSPORT_H_

#include <algorithm>
#include <atomic>
#include <cstdint>
#include <memory>
#include <string>
#include <utility>

#include "absl/strings/match.h"
#include "absl/strings/string_view.h"
#include "kube/http/transport.h"

namespace kube::internal {

// Thread-safe. Requests go through the transport that it is made with.
class RefusalTransport : public Transport {
 public:
  explicit RefusalTransport(std::shared_ptr<Transport> inner) : inner_(std::move(inner)) {}

  // Returns whether the last answer that shows it was 401. The answers to the discovery of an API
  // group do not count: an extension server gives them, which may be broken by itself.
  bool is_refused() const { return state_->refused == state_->token; }

  absl::StatusOr<HttpResponse> Send(const HttpRequest& request,
                                    const base::StopToken& stop) override {
    const int64_t token = state_->token;
    absl::StatusOr<HttpResponse> answer = inner_->Send(request, stop);
    if (answer.ok() && !IsGroupDiscovery(request.path)) state_->Note(token, answer->code);
    return answer;
  }
  std::unique_ptr<HttpStream> Open(const HttpRequest& request, StreamCallbacks callbacks) override {
    callbacks.on_head = [state = state_, token = state_->token.load(),
                         on_head = std::move(callbacks.on_head)](const HttpResponse& head) {
      state->Note(token, head.code);
      on_head(head);
    };
    return inner_->Open(request, std::move(callbacks));
  }
  bool ReplaceToken(const std::string& token) override {
    if (!inner_->ReplaceToken(token)) return false;
    ++state_->token;
    return true;
  }

 private:
  struct State {
    std::atomic<int64_t> token = 1;    // The number of the token in use.
    std::atomic<int64_t> refused = 0;  // The number of the token that is refused; 0 for none.

    void Note(int64_t sent_with, int code) {
      if (code == 401) {
        if (sent_with == token) refused = sent_with;
      } else if (code < 500) {  // Others may come from a proxy that asks nobody.
        refused.compare_exchange_strong(sent_with, 0);
      }
    }
  };

  // Returns whether the path is "/apis/GROUP/VERSION".
  static bool IsGroupDiscovery(absl::string_view path) {
    return absl::StartsWith(path, "/apis/") && std::count(path.begin(), path.end(), '/') == 3;
  }

  const std::shared_ptr<Transport> inner_;
  // Shared with the streams, which may outlive this object.
  const std::shared_ptr<State> state_ = std::make_shared<State>();
};

}  // namespace kube::internal

#endif  // KUBE_RUNTIME_INTERNAL_REFUSAL_TRANSPORT_H_
