// A Transport that answers from a function and records the requests.
#ifndef TESTS_KUBE_CLIENT_SCRIPTED_TRANSPORT_H_
#define TESTS_KUBE_CLIENT_SCRIPTED_TRANSPORT_H_

#include <functional>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "absl/synchronization/mutex.h"
#include "kube/http/transport.h"

namespace tests {

class ScriptedTransport : public kube::Transport {
 public:
  // `attempt` counts from 0.
  using Handler = std::function<absl::StatusOr<kube::HttpResponse>(const kube::HttpRequest& request,
                                                                   int attempt)>;
  explicit ScriptedTransport(Handler handler) : handler_(std::move(handler)) {}

  absl::StatusOr<kube::HttpResponse> Send(const kube::HttpRequest& request,
                                          const base::StopToken&) override {
    int attempt = 0;
    {
      absl::MutexLock lock(&mu_);
      attempt = static_cast<int>(requests_.size());
      requests_.push_back(request);
    }
    return handler_(request, attempt);
  }

  // Streams are driven by the test.
  std::unique_ptr<kube::HttpStream> Open(const kube::HttpRequest& request,
                                         kube::StreamCallbacks callbacks) override {
    absl::MutexLock lock(&mu_);
    requests_.push_back(request);
    stream = std::move(callbacks);
    return std::make_unique<kube::HttpStream>();
  }

  std::vector<kube::HttpRequest> requests() const {
    absl::MutexLock lock(&mu_);
    return requests_;
  }

  kube::StreamCallbacks stream;  // The callbacks of the last Open().

 private:
  const Handler handler_;
  mutable absl::Mutex mu_;
  std::vector<kube::HttpRequest> requests_;
};

inline kube::HttpResponse Answer(int code, std::string body = "{}") {
  return {.code = code, .body = std::move(body)};
}

}  // namespace tests

#endif  // TESTS_KUBE_CLIENT_SCRIPTED_TRANSPORT_H_
