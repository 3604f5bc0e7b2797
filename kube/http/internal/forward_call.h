// One forwarded request on the event loop.
#ifndef KUBE_HTTP_INTERNAL_FORWARD_CALL_H_
#define KUBE_HTTP_INTERNAL_FORWARD_CALL_H_

#include <atomic>
#include <cstddef>
#include <functional>
#include <memory>
#include <string>

#include "absl/base/thread_annotations.h"
#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"
#include "absl/synchronization/mutex.h"
#include "base/clock.h"
#include "base/stop_token.h"
#include "kube/http/forwarder.h"
#include "kube/http/internal/connection.h"
#include "kube/http/internal/event_loop.h"
#include "kube/http/internal/response_parser.h"
#include "kube/http/internal/server_access.h"
#include "kube/kubeconfig/credentials.h"

namespace kube {

class ForwardCall : public ForwardStream,
                    public Reactor::Source,
                    public std::enable_shared_from_this<ForwardCall> {
 public:
  // Only the end-to-end headers of `request` are sent; see ServerAccess::TextOf for the others.
  ForwardCall(std::shared_ptr<ServerAccess> server, ForwardRequest request,
              ForwardCallbacks callbacks);
  ~ForwardCall() override;

  void Start();  // Call it once, first.

  void Read() override;
  void Cancel() override;
  bool Write(std::string bytes) override;
  bool HasRoom() const override;
  void OnRoom(std::function<void()> callback) override;
  void EndWriting() override;

  void OnReady(Reactor& reactor) override;
  void OnTimer(Reactor& reactor) override;

 private:
  enum class Phase { kResolving, kEstablishing, kWriting, kHead, kBody, kTunnel, kOver };

  // Returns why a read or write failed.
  static absl::string_view Why(const IoResult& result) {
    return result.error.empty() ? absl::string_view("closed by the peer") : result.error;
  }
  // Returns POLLIN or POLLOUT: what to wait for after `result`.
  static short WantOf(const IoResult& result);

  // The functions below run on the loop's thread, except Post.
  void Post(void (ForwardCall::*function)(Reactor&));
  void Begin(Reactor& reactor, const absl::StatusOr<CredentialsPtr>& credentials);
  absl::Status Prepare(const Credentials& credentials);
  void Attempt(Reactor& reactor, bool with_kept);
  void Resolve();
  void Connect(Reactor& reactor, absl::StatusOr<Addresses> addresses);
  void NewParser();
  void BeginWriting(Reactor& reactor);

  void Advance(Reactor& reactor);
  // Each goes as far as it can without waiting.
  absl::Status Proceed(Reactor& reactor);
  absl::Status Establish(Reactor& reactor);
  absl::Status WriteRequest();
  // The request is not sent any more.
  void DropText();
  absl::Status ReadOn(Reactor& reactor);
  absl::Status WriteTunnel();

  // Reads one block, of several TLS records if they have come. Returns whether there was any.
  absl::StatusOr<bool> ReadBlock(Reactor& reactor);
  absl::Status Take(absl::string_view bytes);
  absl::Status TakeEnd(const IoResult& result);
  void TakeHead(const HttpResponse& head);
  // Hands over what has been read if it is wanted; returns whether nothing is left.
  bool Deliver();
  bool NextBlock();
  bool HasWrittenAll() const;
  void ReportRoom();
  void ReportRoomNow(Reactor& reactor);
  void Rewatch(Reactor& reactor);
  short Events() const;

  // Returns whether the request is sent again should the server have closed the kept connection.
  bool MayBeStale() const;
  bool IsStale() const;
  absl::Status TimedOut() const;
  void Fail(Reactor& reactor, absl::Status status);
  void End(Reactor& reactor, const absl::Status& status);
  void EndForBacklog(Reactor& reactor);
  void Drop(Reactor& reactor);
  void GiveBackConnection(bool whole);
  ForwardCallbacks Release(Reactor& reactor);

  const std::shared_ptr<ServerAccess> server_;
  ForwardRequest request_;
  ForwardCallbacks callbacks_;
  base::StopSource stop_;  // Ends a wait for credentials.
  CredentialsPtr credentials_;
  Peer peer_;
  std::string text_;
  size_t written_ = 0;  // Of text_.
  bool sent_ = false;   // The whole request has been sent.
  absl::Status write_error_;
  Phase phase_ = Phase::kResolving;
  base::SteadyTime deadline_;  // Of everything up to the head.
  bool kept_ = false;          // The connection had been used before.
  int resends_ = 0;
  bool calling_ = false;   // A callback runs.
  bool complete_ = false;  // The whole answer has been read.
  HeaderFields fields_;
  std::string pending_;  // What has been read and not handed over.
  short read_wants_ = 0, write_wants_ = 0;
  std::unique_ptr<Connection> connection_;
  std::unique_ptr<ResponseParser> parser_;
  std::string writing_;  // What is being written to an upgraded connection.
  size_t tunnel_written_ = 0;

  std::atomic<bool> wants_ = false;  // Read() has been called.
  mutable absl::Mutex mu_;
  std::string outbox_ ABSL_GUARDED_BY(mu_);  // Follows writing_.
  size_t backlog_ ABSL_GUARDED_BY(mu_) = 0;  // What waits in both.
  bool flushing_ ABSL_GUARDED_BY(mu_) = false;
  bool ending_ ABSL_GUARDED_BY(mu_) = false;  // EndWriting() has been called.
  bool over_ ABSL_GUARDED_BY(mu_) = false;
  std::function<void()> on_room_ ABSL_GUARDED_BY(mu_);
};

}  // namespace kube

#endif  // KUBE_HTTP_INTERNAL_FORWARD_CALL_H_
