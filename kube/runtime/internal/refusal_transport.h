// A transport that remembers whether the server has refused its credentials.
#ifndef KUBE_RUNTIME_INTERNAL_REFUSAL_TRANSPORT_H_
#define KUBE_RUNTIME_INTERNAL_REFUSAL_TRANSPORT_H_

#include <atomic>
#include <memory>
#include <string>
#include <utility>

#include "kube/client/transport.h"

namespace kube::internal {

// Thread-safe. Requests go through the transport that it is made with.
class RefusalTransport : public Transport {
 public:
  explicit RefusalTransport(std::shared_ptr<Transport> inner) : inner_(std::move(inner)) {}

  // Returns whether any request has been answered 401.
  bool was_refused() const { return *refused_; }

  absl::StatusOr<HttpResponse> Send(const HttpRequest& request,
                                    const base::StopToken& stop) override {
    absl::StatusOr<HttpResponse> answer = inner_->Send(request, stop);
    if (answer.ok() && answer->code == kUnauthorized) *refused_ = true;
    return answer;
  }
  std::unique_ptr<HttpStream> Open(const HttpRequest& request, StreamCallbacks callbacks) override {
    callbacks.on_head = [refused = refused_,
                         on_head = std::move(callbacks.on_head)](const HttpResponse& head) {
      if (head.code == kUnauthorized) *refused = true;
      on_head(head);
    };
    return inner_->Open(request, std::move(callbacks));
  }
  bool ReplaceToken(const std::string& token) override { return inner_->ReplaceToken(token); }

 private:
  static constexpr int kUnauthorized = 401;

  const std::shared_ptr<Transport> inner_;
  // Shared with the streams, which may outlive this object.
  const std::shared_ptr<std::atomic<bool>> refused_ = std::make_shared<std::atomic<bool>>(false);
};

}  // namespace kube::internal

#endif  // KUBE_RUNTIME_INTERNAL_REFUSAL_TRANSPORT_H_
