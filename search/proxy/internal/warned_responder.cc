#include "search/proxy/internal/warned_responder.h"

#include <functional>
#include <utility>

#include "absl/strings/str_cat.h"
#include "search/proxy/read_request.h"

namespace search {
namespace {

class WarnedResponder : public base::HttpResponder {
 public:
  // `warn` adds the headers to an answer.
  WarnedResponder(std::shared_ptr<base::HttpResponder> responder,
                  std::function<void(base::HttpResponse& response)> warn)
      : responder_(std::move(responder)), warn_(std::move(warn)) {}

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
    warn_(response);
    return response;
  }

  const std::shared_ptr<base::HttpResponder> responder_;
  const std::function<void(base::HttpResponse& response)> warn_;
};

}  // namespace

std::shared_ptr<base::HttpResponder> WarnedOfUnread(std::shared_ptr<base::HttpResponder> responder,
                                                    std::vector<MissingCluster> unread) {
  std::erase_if(unread, [](const MissingCluster& m) { return m.stale; });
  if (unread.empty()) return responder;
  return std::make_shared<WarnedResponder>(
      std::move(responder), [unread = std::move(unread)](base::HttpResponse& response) {
        AddUnreadWarnings(unread, response);
      });
}

std::shared_ptr<base::HttpResponder> WarnedOfControlPlane(
    std::shared_ptr<base::HttpResponder> responder, const kube::server::GroupName& resource) {
  return std::make_shared<WarnedResponder>(
      std::move(responder),
      [text = absl::StrCat(resource.ToString(),
                           " is in no ResourceRegistry: this was a request to "
                           "the control plane, not to members")](base::HttpResponse& response) {
        response.headers.emplace_back("Warning", kube::server::WarningHeader(text));
      });
}

}  // namespace search
