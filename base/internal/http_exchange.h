// One request and its answer; the handler's threads and the connection's threads share it. Private
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

// Runs work on the server's threads while there are any. It may outlive the server.
class ServerThreads {
 public:
  using Poster = std::function<void(std::function<void()>)>;
  explicit ServerThreads(Poster post) : post_(std::move(post)) {}
  // Runs `work` on a server thread, or at once when the server has stopped.
  void Run(std::function<void()> work);
  // From now on Run does not post to the server's threads.
  void Retire();

 private:
  absl::Mutex mu_;
  Poster post_ ABSL_GUARDED_BY(mu_);
};

// The connection as an exchange sees it.
class OutputListener {
 public:
  virtual ~OutputListener() = default;
  // Is called when there is something to Take(), on any thread and with a lock held: it must only
  // post.
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

  // For the handler; see HttpResponder and HttpStream. Calls in the wrong order are ignored.
  void Send(HttpResponse response);
  void StartStream(const HttpResponse& head);
  bool Write(absl::string_view bytes);
  void Close();
  void Abort();
  void OnClosed(std::function<void()> callback);
  // Called when the handler has dropped its last handle: an answer that is not complete is cut.
  void AbortUnlessFinished();
  void AbortUnlessStarted();

  // For the connection.
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
  // Separates the exchange from the connection, and runs the callback of OnClosed.
  void Detach();

 private:
  using State = Progress;

  void AppendBody(absl::string_view bytes) ABSL_EXCLUSIVE_LOCKS_REQUIRED(mu_);
  void SetState(State state) ABSL_EXCLUSIVE_LOCKS_REQUIRED(mu_);
  void Notify() ABSL_EXCLUSIVE_LOCKS_REQUIRED(mu_);

  mutable absl::Mutex mu_;
  Options options_ ABSL_GUARDED_BY(mu_);
  OutputListener* listener_ ABSL_GUARDED_BY(mu_);  // nullptr after Detach.
  State state_ ABSL_GUARDED_BY(mu_) = State::kWaiting;
  Framing framing_ ABSL_GUARDED_BY(mu_) = Framing::kLength;
  bool has_body_ ABSL_GUARDED_BY(mu_) = true;
  bool awake_ ABSL_GUARDED_BY(mu_) = true;  // The listener will call Take() anyway.
  std::string outbox_ ABSL_GUARDED_BY(mu_);
  size_t in_flight_ ABSL_GUARDED_BY(mu_) = 0;
  std::function<void()> on_closed_ ABSL_GUARDED_BY(mu_);
};

// Returns the handle for a handler.
std::shared_ptr<HttpResponder> NewResponder(std::shared_ptr<Exchange> exchange);

}  // namespace base::internal

#endif  // BASE_INTERNAL_HTTP_EXCHANGE_H_
