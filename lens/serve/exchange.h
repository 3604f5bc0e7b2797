// One question, from its arrival to its answer.
#ifndef LENS_SERVE_EXCHANGE_H_
#define LENS_SERVE_EXCHANGE_H_

#include <atomic>
#include <functional>
#include <memory>
#include <optional>
#include <string>

#include "absl/status/status.h"
#include "absl/time/time.h"
#include "base/http_server.h"
#include "base/json.h"
#include "base/stop_token.h"
#include "base/timers.h"

namespace lens::serve {

// What is read for an answer ends when its time is over, when its client has gone, and when the
// server stops. Destroyed without an answer it says that there is too much to do. Thread-safe, but
// for one answer.
class Exchange {
 public:
  // REQUIRES: `timers` outlives the object.
  Exchange(base::HttpRequest request, std::shared_ptr<base::HttpResponder> responder,
           base::Timers& timers, const base::StopToken& server_stop);
  ~Exchange();
  Exchange(const Exchange&) = delete;

  const base::HttpRequest& request() const { return request_; }
  base::HttpResponder& responder() { return *responder_; }
  base::StopToken stop() const { return source_.get_token(); }

  // Begins to count the time. Call it once.
  void EndAfter(absl::Duration patience);
  // Calls `callback` when the time is over, the client has gone or the server stops; at once if one
  // of these has happened. Not when the object is destroyed before. Call it once.
  void OnEnd(std::function<void()> callback);
  // Answers. An error that follows from the end of the time says so.
  void Send(const absl::StatusOr<json::Value>& answer);
  void Send(base::HttpResponse response);
  // Answers with bytes that others are answered with, too, without a copy of all of them.
  void SendShared(const base::SharedBytes& json, base::HttpResponse head);
  // Says that somebody else has answered.
  void Answered() { is_answered_ = true; }

 private:
  const base::HttpRequest request_;
  const std::shared_ptr<base::HttpResponder> responder_;
  base::Timers& timers_;
  base::StopSource source_;
  base::StopCallback<std::function<void()>> on_server_stop_;
  base::Timers::Id timer_ = {};
  absl::Duration patience_ = absl::ZeroDuration();
  const std::shared_ptr<std::atomic<bool>> is_late_ = std::make_shared<std::atomic<bool>>(false);
  bool is_answered_ = false;
  std::optional<base::StopCallback<std::function<void()>>> on_end_;
};
using ExchangePtr = std::shared_ptr<Exchange>;

}  // namespace lens::serve

#endif  // LENS_SERVE_EXCHANGE_H_
