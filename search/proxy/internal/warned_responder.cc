#include "search/proxy/internal/warned_responder.h"

#include <functional>
#include <utility>

#include "search/proxy/read_request.h"

namespace search {
namespace {

class WarnedResponder : public base::HttpResponder {
 public:
  WarnedResponder(std::shared_ptr<base::HttpResponder> responder,
                  std::vector<MissingCluster> unread)
      : responder_(std::move(responder)), unread_(std::move(unread)) {}

  void Send(base::HttpResponse response) override { responder_->Send(Warned(std::move(response))); }
  std::shared_ptr<base::HttpStream> StartStream(base::HttpResponse head) override {
    return responder_->StartStream(Warned(std::move(head)));
  }
  std::shared_ptr<base::HttpTunnel> Upgrade(base::HttpResponse head) override {
    return responder_->Upgrade(Warned(std::move(head)));
  }
  void Abort() override { responder_->Abort(); }
  void OnClosed(std::function<void()> callback) override {
    responder_->OnClosed(std::move(callback));
  }

 private:
  base::HttpResponse Warned(base::HttpResponse response) const {
    AddUnreadWarnings(unread_, response);
    return response;
  }

  const std::shared_ptr<base::HttpResponder> responder_;
  const std::vector<MissingCluster> unread_;
};

}  // namespace

std::shared_ptr<base::HttpResponder> WarnedOfUnread(std::shared_ptr<base::HttpResponder> responder,
                                                    std::vector<MissingCluster> unread) {
  std::erase_if(unread, [](const MissingCluster& m) { return m.stale; });
  if (unread.empty()) return responder;
  return std::make_shared<WarnedResponder>(std::move(responder), std::move(unread));
}

}  // namespace search
