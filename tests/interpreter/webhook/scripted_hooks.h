// A transport that gives the answers of a test, and records the requests.
#ifndef TESTS_INTERPRETER_WEBHOOK_SCRIPTED_HOOKS_H_
#define TESTS_INTERPRETER_WEBHOOK_SCRIPTED_HOOKS_H_

#include <functional>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "absl/base/thread_annotations.h"
#include "absl/strings/string_view.h"
#include "absl/synchronization/mutex.h"
#include "interpreter/webhook/hook_client.h"
#include "kube/http/transport.h"
#include "tests/interpreter/webhook/hooks.h"

namespace tests {

// Answers for every connection that hooks make. Thread-safe.
class ScriptedHooks {
 public:
  using Answer = std::function<absl::StatusOr<kube::HttpResponse>(const kube::HttpRequest&)>;

  explicit ScriptedHooks(Answer answer) : state_(std::make_shared<State>()) {
    state_->answer = std::move(answer);
  }

  webhook::TransportFactory Factory() {
    return [state = state_](const kube::ConnectionConfig& config)
               -> absl::StatusOr<std::shared_ptr<kube::Transport>> {
      absl::MutexLock lock(&state->mu);
      state->connections.push_back(config);
      return std::make_shared<Connection>(state);
    };
  }
  void Set(Answer answer) {
    absl::MutexLock lock(&state_->mu);
    state_->answer = std::move(answer);
  }

  std::vector<kube::ConnectionConfig> connections() const {
    absl::MutexLock lock(&state_->mu);
    return state_->connections;
  }
  std::vector<kube::HttpRequest> requests() const {
    absl::MutexLock lock(&state_->mu);
    return state_->requests;
  }

 private:
  struct State {
    absl::Mutex mu;
    Answer answer ABSL_GUARDED_BY(mu);
    std::vector<kube::ConnectionConfig> connections ABSL_GUARDED_BY(mu);
    std::vector<kube::HttpRequest> requests ABSL_GUARDED_BY(mu);
  };
  class Connection : public kube::Transport {
   public:
    explicit Connection(std::shared_ptr<State> state) : state_(std::move(state)) {}
    absl::StatusOr<kube::HttpResponse> Send(const kube::HttpRequest& request,
                                            const base::StopToken& stop) override {
      if (stop.stop_requested()) return absl::CancelledError("stopped");
      Answer answer;
      {
        absl::MutexLock lock(&state_->mu);
        state_->requests.push_back(request);
        answer = state_->answer;
      }
      return answer(request);
    }
    std::unique_ptr<kube::HttpStream> Open(const kube::HttpRequest&,
                                           kube::StreamCallbacks) override {
      return nullptr;
    }

   private:
    const std::shared_ptr<State> state_;
  };

  const std::shared_ptr<State> state_;
};

// Answers each question with these members of a response.
inline ScriptedHooks::Answer Responding(const std::string& members) {
  return [members](const kube::HttpRequest& request) -> absl::StatusOr<kube::HttpResponse> {
    const std::string uid = Json(request.body).Get({"request", "uid"}).ToString();
    json::Value response = Json(members);
    response.Set("uid", uid);
    if (!response.Has("successful")) response.Set("successful", true);
    return kube::HttpResponse{.code = 200,
                              .body = json::Write(json::Value::Object({{"response", response}}))};
  };
}
inline ScriptedHooks::Answer Failing(absl::Status status) {
  return
      [status](const kube::HttpRequest&) -> absl::StatusOr<kube::HttpResponse> { return status; };
}
inline ScriptedHooks::Answer Http(int code, const std::string& body,
                                  std::map<std::string, std::string> headers = {}) {
  return [=](const kube::HttpRequest&) -> absl::StatusOr<kube::HttpResponse> {
    return kube::HttpResponse{.code = code, .headers = headers, .body = body};
  };
}

}  // namespace tests

#endif  // TESTS_INTERPRETER_WEBHOOK_SCRIPTED_HOOKS_H_
