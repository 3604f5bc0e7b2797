// One request and its answer: the place where the handler's threads meet the connection's. Private
// to base/.
#ifndef BASE_INTERNAL_HTTP_EXCHANGE_H_
#define BASE_INTERNAL_HTTP_EXCHANGE_H_

#include <cstddef>
#include <functional>
#include <memory>
#include <string>

#include "absl/base/thread_annotations.h"
#include "absl/synchronization/mutex.h"
#include "base/http_server.h"
#include "base/internal/http_message.h"

namespace base::internal {

// Runs things on the server's threads as long as there are any. Outlives the server.
class ServerThreads {
 public:
  using Poster = std::function<void(std::function<void()>)>;
  explicit ServerThreads(Poster post) : post_(std::move(post)) {}
  // Runs `work` on a server thread, or at once when the server has stopped.
  void Run(std::function<void()> work);
  // Nothing is posted after this.
  void Retire();

 private:
  absl::Mutex mu_;
  Poster post_ ABSL_GUARDED_BY(mu_);
};

// The connection as seen by an exchange.
class OutputListener {
 public:
  virtual ~OutputListener() = default;
  // There is something to Take(). Called on any thread with a lock held: must only post.
  virtual void Wake() = 0;
};

// Collects the bytes of the answer until the connection takes them. Thread-safe.
class Exchange {
 public:
  struct Options {
    ResponseRules rules;
    size_t max_backlog_bytes = 0;
    std::shared_ptr<ServerThreads> threads;
  };
  // `listener` is woken until Detach(). It is not woken before the first Take(), which the
  // connection does after the handler has returned.
  Exchange(Options options, OutputListener& listener)
      : options_(std::move(options)), listener_(&listener) {}

  // The handler's side; see HttpResponder and HttpStream. Wrong order is ignored.
  void Send(HttpResponse response);
  void StartStream(const HttpResponse& head);
  bool Write(absl::string_view bytes);
  void Close();
  void Abort();
  void OnClosed(std::function<void()> callback);
  // What dropping the handler's last handle means: an answer that is not complete is cut.
  void AbortUnlessFinished();
  void AbortUnlessStarted();

  // The connection's side.
  struct Output {
    std::string bytes;
    bool finished = false;  // Nothing comes after `bytes`.
  };
  // REQUIRES: the bytes of the last call have been written.
  Output Take();
  enum class Progress { kWaiting, kStreaming, kFinished, kAborted };
  Progress progress() const;
  // Returns whether the connection may serve another request after this answer.
  bool keep_alive() const;
  // Ends the relation to the connection; runs the callback of OnClosed.
  void Detach();

 private:
  using State = Progress;

  void AppendBody(absl::string_view bytes) ABSL_EXCLUSIVE_LOCKS_REQUIRED(mu_);
  void SetState(State state) ABSL_EXCLUSIVE_LOCKS_REQUIRED(mu_);
  void Notify() ABSL_EXCLUSIVE_LOCKS_REQUIRED(mu_);

  mutable absl::Mutex mu_;
  Options options_ ABSL_GUARDED_BY(mu_);
  OutputListener* listener_ ABSL_GUARDED_BY(mu_);  // Null after Detach.
  State state_ ABSL_GUARDED_BY(mu_) = State::kWaiting;
  Framing framing_ ABSL_GUARDED_BY(mu_) = Framing::kLength;
  bool has_body_ ABSL_GUARDED_BY(mu_) = true;
  bool awake_ ABSL_GUARDED_BY(mu_) = true;  // The listener will call Take() anyway.
  std::string outbox_ ABSL_GUARDED_BY(mu_);
  size_t in_flight_ ABSL_GUARDED_BY(mu_) = 0;
  std::function<void()> on_closed_ ABSL_GUARDED_BY(mu_);
};

// The handles given to handlers.
std::shared_ptr<HttpResponder> NewResponder(std::shared_ptr<Exchange> exchange);

}  // namespace base::internal

#endif  // BASE_INTERNAL_HTTP_EXCHANGE_H_
