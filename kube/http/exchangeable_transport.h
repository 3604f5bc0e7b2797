// A transport whose credentials and address can be exchanged while it is in use.
#ifndef KUBE_HTTP_EXCHANGEABLE_TRANSPORT_H_
#define KUBE_HTTP_EXCHANGEABLE_TRANSPORT_H_

#include <memory>
#include <string>
#include <utility>

#include "absl/base/thread_annotations.h"
#include "absl/synchronization/mutex.h"
#include "kube/http/transport.h"

namespace kube {

// Passes everything on to another transport, which Use replaces. Requests and streams that have
// begun end with the one that they began with; what begins afterwards uses the new one.
// Thread-safe.
class ExchangeableTransport : public Transport {
 public:
  explicit ExchangeableTransport(std::shared_ptr<Transport> first) : now_(std::move(first)) {}

  void Use(std::shared_ptr<Transport> next) {
    absl::MutexLock lock(&mu_);
    now_.swap(next);
  }

  absl::StatusOr<HttpResponse> Send(const HttpRequest& request,
                                    const base::StopToken& stop) override {
    return Now()->Send(request, stop);
  }
  std::unique_ptr<HttpStream> Open(const HttpRequest& request, StreamCallbacks callbacks) override {
    std::shared_ptr<Transport> now = Now();
    std::unique_ptr<HttpStream> stream = now->Open(request, std::move(callbacks));
    return std::make_unique<Stream>(std::move(now), std::move(stream));
  }
  bool ReplaceToken(const std::string& token) override { return Now()->ReplaceToken(token); }

 private:
  // Keeps the transport as long as the stream.
  class Stream : public HttpStream {
   public:
    Stream(std::shared_ptr<Transport> transport, std::unique_ptr<HttpStream> stream)
        : transport_(std::move(transport)), stream_(std::move(stream)) {}

   private:
    const std::shared_ptr<Transport> transport_;
    const std::unique_ptr<HttpStream> stream_;  // Ends first.
  };

  std::shared_ptr<Transport> Now() const {
    absl::MutexLock lock(&mu_);
    return now_;
  }

  mutable absl::Mutex mu_;
  std::shared_ptr<Transport> now_ ABSL_GUARDED_BY(mu_);
};

}  // namespace kube

#endif  // KUBE_HTTP_EXCHANGEABLE_TRANSPORT_H_
