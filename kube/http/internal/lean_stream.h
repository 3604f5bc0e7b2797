// One streamed answer on the event loop.
#ifndef KUBE_HTTP_INTERNAL_LEAN_STREAM_H_
#define KUBE_HTTP_INTERNAL_LEAN_STREAM_H_

#include <functional>
#include <memory>
#include <string>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/time/time.h"
#include "base/clock.h"
#include "kube/http/internal/connection.h"
#include "kube/http/internal/event_loop.h"
#include "kube/http/internal/response_parser.h"
#include "kube/http/internal/stream_delivery.h"

namespace kube {

// The parts of a stream, once credentials are available.
struct StreamRequest {
  std::shared_ptr<const Route> route;
  std::string text;
};

// Connects, sends the request and delivers the answer. All functions must be called on the loop's
// thread.
class LeanStream : public Reactor::Source, public std::enable_shared_from_this<LeanStream> {
 public:
  // `loop` is used to return to the thread, after a name lookup and for more data.
  // `longest_silence` limits how long nothing may come once the connection is established, and how
  // long the head of the answer may take.
  LeanStream(std::weak_ptr<EventLoop> loop, std::shared_ptr<StreamDelivery> delivery,
             absl::Duration longest_silence);

  // Call it once, first.
  void Start(Reactor& reactor, absl::StatusOr<StreamRequest> request);
  // Releases everything; nothing is delivered any more.
  void Cancel(Reactor& reactor);

  void OnReady(Reactor& reactor) override;
  void OnTimer(Reactor& reactor) override;

 private:
  enum class Phase { kResolving, kEstablishing, kWriting, kReading, kOver };

  void Resolve();
  void Connect(Reactor& reactor, absl::StatusOr<Addresses> addresses);
  // Runs the phases as far as possible without waiting.
  void Advance(Reactor& reactor);
  // Returns whether the phase is over.
  absl::StatusOr<bool> Establish();
  absl::StatusOr<bool> Write();
  absl::StatusOr<bool> Read(Reactor& reactor);
  void ComeBack();
  absl::StatusOr<bool> DoPhase(Reactor& reactor);
  base::SteadyTime NextTimer() const;
  absl::Status TimedOut() const;
  void End(Reactor& reactor, absl::Status status);

  const std::weak_ptr<EventLoop> loop_;
  const std::shared_ptr<StreamDelivery> delivery_;
  const absl::Duration longest_silence_;
  StreamRequest request_;
  size_t written_ = 0;
  Phase phase_ = Phase::kResolving;
  base::SteadyTime phase_deadline_;  // Limits all phases before the answer, then the answer's head.
  bool has_head_ = false;
  bool comes_back_ = false;  // True if a call is posted.
  base::SteadyTime last_data_;
  std::unique_ptr<Connection> connection_;
  std::unique_ptr<ResponseParser> parser_;
};

}  // namespace kube

#endif  // KUBE_HTTP_INTERNAL_LEAN_STREAM_H_
