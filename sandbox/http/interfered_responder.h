// Asks an interference what becomes of an answer, and does that.
#ifndef SANDBOX_HTTP_INTERFERED_RESPONDER_H_
#define SANDBOX_HTTP_INTERFERED_RESPONDER_H_

#include <functional>
#include <memory>

#include "base/http_server.h"
#include "sandbox/http/interference.h"

namespace sandbox {

// Stands between whoever answers a request and its connection.
class InterferedResponder : public base::HttpResponder {
 public:
  struct Parts {
    std::shared_ptr<base::HttpResponder> inner;
    std::shared_ptr<Interference> interference;
    RequestPtr request;
    // Is filled by who executes the request, before the answer.
    std::shared_ptr<Outcome> outcome;
    // Notes a hold, so that the server can drop what waits there.
    std::function<void(const std::shared_ptr<Hold>&)> note;
  };
  explicit InterferedResponder(Parts parts) : parts_(std::move(parts)) {}

  void Send(base::HttpResponse response) override;
  std::shared_ptr<base::HttpStream> StartStream(base::HttpResponse head) override;
  std::shared_ptr<base::HttpTunnel> Upgrade(base::HttpResponse head) override {
    return parts_.inner->Upgrade(std::move(head));
  }
  void Abort() override { parts_.inner->Abort(); }
  void OnClosed(std::function<void()> callback) override {
    parts_.inner->OnClosed(std::move(callback));
  }

 private:
  AnswerVerdict Verdict(int code);

  const Parts parts_;
};

}  // namespace sandbox

#endif  // SANDBOX_HTTP_INTERFERED_RESPONDER_H_
