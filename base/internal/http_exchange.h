// One request and its answer; the handler's threads and the connection's threads share it. Private
// to base/.
#ifndef BASE_INTERNAL_HTTP_EXCHANGE_H_
#define BASE_INTERNAL_HTTP_EXCHANGE_H_

#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "absl/base/thread_annotations.h"
#include "absl/synchronization/mutex.h"
#include "base/http_server.h"
#include "base/internal/http_message.h"
#include "base/internal/outgoing_bytes.h"
#include "base/internal/waiting_bytes.h"

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
  // Is called when there is something to Take(), a block to deliver or a report of room to make; on
  // any thread and with a lock held: it must only post.
  virtual void Wake() = 0;
  // Is called when the bytes that wait are too many; like Wake.
  virtual void CutSoon() = 0;
};

// Collects the bytes of the answer until the connection takes them, and hands the bytes of a tunnel
// to its reader. Thread-safe.
class Exchange {
 public:
  struct Options {
    ResponseRules rules;
    size_t max_backlog_bytes = 0;
    size_t window_bytes = 0;
    std::shared_ptr<ServerThreads> threads;
    std::shared_ptr<WaitingBytes> outputs;
  };
  // `listener` is woken until Detach(). It is not woken before the first Take(), which the
  // connection does after the handler has returned.
  Exchange(Options options, OutputListener& listener)
      : options_(std::move(options)),
        listener_(&listener),
        account_([&listener] { listener.CutSoon(); }),
        input_account_([&listener] { listener.CutSoon(); }) {}
  ~Exchange();

  // For the handler; see HttpResponder, HttpStream and HttpTunnel. Calls in the wrong order are
  // ignored.
  void Send(HttpResponse response);
  void StartStream(HttpResponse head);
  void Upgrade(const HttpResponse& head);
  template <class Bytes>
  bool Write(Bytes bytes);
  bool HasRoom() const;
  void OnRoom(std::function<void()> callback);
  void Close();
  void Abort();
  void OnClosed(std::function<void()> callback);
  void StartTunnel(HttpTunnel::Callbacks callbacks);
  void Read();
  // Called when the handler has dropped its last handle: an answer that is not complete is cut.
  void AbortUnlessFinished();
  void AbortUnlessStarted();

  // For the connection, which calls these functions one at a time.
  struct Output {
    OutgoingBytes::Block block;
    bool finished = false;  // Nothing follows `block`.
  };
  // REQUIRES: the bytes of the last call have been written.
  Output Take();
  // kTunnel: Take() may report the end of the bytes nevertheless.
  enum class Progress { kWaiting, kStreaming, kTunnel, kFinished, kAborted };
  Progress progress() const;
  // Returns whether the connection may serve another request after this answer.
  bool keep_alive() const;
  // Calls the callback of OnRoom if there is one, and room.
  void ReportRoom();
  // Returns whether the reader of the tunnel waits for Deliver() or DeliverEnd().
  bool wants_bytes() const;
  void Deliver(std::string bytes);
  void DeliverEnd();
  // Counts what waits for the reader of a tunnel: the last block, until it asks for the next one,
  // and what the connection has read `ahead`.
  void CountInput(size_t ahead);
  // The peer sends no more. If no answer has begun, the callback of OnClosed is run.
  void ReportPeerEnd();
  // Separates the exchange from the connection, and runs the callbacks that wait for that.
  void Detach();

 private:
  using State = Progress;
  using Callback = std::function<void()>;

  bool HasRoomNow() const ABSL_SHARED_LOCKS_REQUIRED(mu_);
  bool MayWrite(size_t count) ABSL_EXCLUSIVE_LOCKS_REQUIRED(mu_);
  template <class Bytes>
  void AppendBody(Bytes bytes) ABSL_EXCLUSIVE_LOCKS_REQUIRED(mu_);
  // Counts what waits. `progress`: the peer has taken some.
  void Count(bool progress = false) ABSL_EXCLUSIVE_LOCKS_REQUIRED(mu_);
  void SetState(State state) ABSL_EXCLUSIVE_LOCKS_REQUIRED(mu_);
  void Cut() ABSL_EXCLUSIVE_LOCKS_REQUIRED(mu_);
  void Notify() ABSL_EXCLUSIVE_LOCKS_REQUIRED(mu_);
  void NotifyAtOnce() ABSL_EXCLUSIVE_LOCKS_REQUIRED(mu_);
  std::shared_ptr<HttpTunnel::Callbacks> BeginDelivery(size_t bytes, bool end);
  void EndDelivery();

  mutable absl::Mutex mu_;
  Options options_ ABSL_GUARDED_BY(mu_);
  OutputListener* listener_ ABSL_GUARDED_BY(mu_);  // nullptr after Detach.
  State state_ ABSL_GUARDED_BY(mu_) = State::kWaiting;
  Framing framing_ ABSL_GUARDED_BY(mu_) = Framing::kLength;
  bool has_body_ ABSL_GUARDED_BY(mu_) = true;
  // What a stream of known length still has to send.
  std::optional<uint64_t> length_left_ ABSL_GUARDED_BY(mu_);
  bool peer_ended_ ABSL_GUARDED_BY(mu_) = false;
  bool awake_ ABSL_GUARDED_BY(mu_) = true;  // The listener will call Take() anyway.
  OutgoingBytes outbox_ ABSL_GUARDED_BY(mu_);
  WaitingBytes::Account account_ ABSL_GUARDED_BY(mu_);  // Of outbox_ and in_flight_.
  size_t in_flight_ ABSL_GUARDED_BY(mu_) = 0;
  Callback on_closed_ ABSL_GUARDED_BY(mu_);
  Callback on_room_ ABSL_GUARDED_BY(mu_);
  // For a tunnel.
  std::shared_ptr<HttpTunnel::Callbacks> tunnel_ ABSL_GUARDED_BY(mu_);
  bool wants_bytes_ ABSL_GUARDED_BY(mu_) = false;
  size_t given_ ABSL_GUARDED_BY(mu_) = 0;         // The last block, until the next one is wanted.
  bool took_input_ ABSL_GUARDED_BY(mu_) = false;  // Since the last CountInput().
  WaitingBytes::Account input_account_ ABSL_GUARDED_BY(mu_);
  bool delivering_ ABSL_GUARDED_BY(mu_) = false;
  bool output_ended_ ABSL_GUARDED_BY(mu_) = false;
  bool input_ended_ ABSL_GUARDED_BY(mu_) = false;  // DeliverEnd() has been called.
};

// Returns the handle for a handler.
std::shared_ptr<HttpResponder> NewResponder(std::shared_ptr<Exchange> exchange);

}  // namespace base::internal

#endif  // BASE_INTERNAL_HTTP_EXCHANGE_H_
