#include "kube/runtime/leader_fence.h"

#include <utility>
#include <vector>

#include "absl/strings/str_split.h"

namespace kube {
namespace {

// Events are created below ".../events" and patched as ".../events/NAME".
bool IsEvent(const HttpRequest& request) {
  const absl::string_view path = absl::string_view(request.path).substr(0, request.path.find('?'));
  const std::vector<absl::string_view> parts = absl::StrSplit(path, '/');
  const size_t from_end = request.method == "POST" ? 1 : 2;
  return parts.size() > from_end && parts[parts.size() - from_end] == "events";
}

bool IsRead(const HttpRequest& request) {
  return request.method == "GET" || request.method == "HEAD";
}

class FencedTransport : public Transport {
 public:
  FencedTransport(std::shared_ptr<const LeaderFence> fence, std::shared_ptr<Transport> server)
      : fence_(std::move(fence)), server_(std::move(server)) {}

  absl::StatusOr<HttpResponse> Send(const HttpRequest& request,
                                    const base::StopToken& stop) override {
    if (!IsRead(request) && !IsEvent(request) && !fence_->MayWrite()) {
      return NotProcessed(absl::CancelledError("the leader lease is not held any more"));
    }
    return server_->Send(request, stop);
  }
  std::unique_ptr<HttpStream> Open(const HttpRequest& request, StreamCallbacks callbacks) override {
    return server_->Open(request, std::move(callbacks));
  }
  bool ReplaceToken(const std::string& token) override { return server_->ReplaceToken(token); }

 private:
  const std::shared_ptr<const LeaderFence> fence_;
  const std::shared_ptr<Transport> server_;
};

}  // namespace

void LeaderFence::HoldsUntil(base::SteadyTime end) {
  absl::MutexLock lock(&mu_);
  end_ = end;
}

void LeaderFence::Close() { HoldsUntil(base::SteadyTime::InfinitePast()); }

bool LeaderFence::MayWrite() const {
  absl::MutexLock lock(&mu_);
  return clock_.SteadyNow() < end_;
}

std::shared_ptr<Transport> LeaderFence::Over(std::shared_ptr<Transport> server) {
  return std::make_shared<FencedTransport>(shared_from_this(), std::move(server));
}

}  // namespace kube
