// The responder of the HTTP server is taken once, by whoever answers first: the handler or Expire.
// A stream or tunnel is wrapped, so that its end is noticed whatever causes it: closed or dropped
// by the handler, cut by the server, left by the peer. All of them share one Ending, which runs the
// hooks and frees what the request holds, each once.

#include "kube/aggregation/guarded_responder.h"

#include <atomic>
#include <utility>

namespace kube::aggregation {

class GuardedResponder::Ending {
 public:
  explicit Ending(Hooks hooks) : hooks_(std::move(hooks)) {}

  void Complete(base::HttpResponse& head) const { hooks_.complete(head); }
  void Started(int code) {
    code_ = code;
    hooks_.started(code);
  }
  // A stream or tunnel runs, for which the handler may drop this responder. It ends at once if it
  // is late.
  void Track(const std::shared_ptr<base::HttpStream>& stream) {
    Held until_stream;
    bool late = false;
    {
      absl::MutexLock lock(&mu_);
      stream_ = stream;
      late = cut_;
      until_stream.swap(held_until_stream_);
    }
    if (late) stream->Abort();
  }
  void Track(const std::shared_ptr<base::HttpTunnel>& tunnel) {
    bool late = false;
    {
      absl::MutexLock lock(&mu_);
      tunnel_ = tunnel;
      late = cut_;
    }
    if (late) tunnel->Abort();
  }
  bool GoesOn() const {
    absl::MutexLock lock(&mu_);
    return !stream_.expired() || !tunnel_.expired();
  }
  // Cuts what runs, or what is just beginning.
  void Cut() {
    std::shared_ptr<base::HttpStream> stream;
    std::shared_ptr<base::HttpTunnel> tunnel;
    {
      absl::MutexLock lock(&mu_);
      cut_ = true;
      stream = stream_.lock();
      tunnel = tunnel_.lock();
    }
    if (stream != nullptr) stream->Abort();
    if (tunnel != nullptr) tunnel->Abort();
  }
  // The handler is done.
  void Done() {
    Finish(code_);
    Held held, until_stream;  // Freed after the lock is released.
    absl::MutexLock lock(&mu_);
    held.swap(held_);
    until_stream.swap(held_until_stream_);
  }
  void Finish(int code) {
    // Several ends may be reported for one request; the first one counts.
    if (!finished_.exchange(true)) hooks_.finished(code);
  }
  void SetCode(int code) { code_ = code; }
  void Closed() const { hooks_.closed(); }
  void Deliver(base::HttpResponse answer, SendFn send) const {
    hooks_.deliver(std::move(answer), std::move(send));
  }
  void Hold(std::shared_ptr<const void> held) {
    absl::MutexLock lock(&mu_);
    held_.push_back(std::move(held));
  }
  void HoldUntilStream(std::shared_ptr<const void> held) {
    absl::MutexLock lock(&mu_);
    held_until_stream_.push_back(std::move(held));
  }

 private:
  const Hooks hooks_;
  std::atomic<int> code_ = 0;
  std::atomic<bool> finished_ = false;
  mutable absl::Mutex mu_;
  Held held_ ABSL_GUARDED_BY(mu_);
  Held held_until_stream_ ABSL_GUARDED_BY(mu_);
  // Weak, because both own this object.
  std::weak_ptr<base::HttpStream> stream_ ABSL_GUARDED_BY(mu_);
  std::weak_ptr<base::HttpTunnel> tunnel_ ABSL_GUARDED_BY(mu_);
  // Cut was called: what has not begun yet must not begin.
  bool cut_ ABSL_GUARDED_BY(mu_) = false;
};

// A callback that is set once and called once, in either order.
class GuardedResponder::LateCallback {
 public:
  void Set(std::function<void()> callback) {
    {
      absl::MutexLock lock(&mu_);
      if (!called_) {
        callback_ = std::move(callback);
        return;
      }
    }
    callback();
  }
  void Call() {
    std::function<void()> callback;
    {
      absl::MutexLock lock(&mu_);
      called_ = true;
      callback.swap(callback_);
    }
    if (callback) callback();
  }

 private:
  absl::Mutex mu_;
  bool called_ ABSL_GUARDED_BY(mu_) = false;
  std::function<void()> callback_ ABSL_GUARDED_BY(mu_);
};

namespace {

using EndingPtr = std::shared_ptr<GuardedResponder::Ending>;
using LateCallback = GuardedResponder::LateCallback;

class GuardedStream : public base::HttpStream {
 public:
  // `closed` is what the handler has set on the responder; it may set another one here.
  GuardedStream(std::shared_ptr<base::HttpStream> inner, EndingPtr ending,
                std::shared_ptr<LateCallback> closed)
      : inner_(std::move(inner)), ending_(std::move(ending)), closed_(std::move(closed)) {
    inner_->OnClosed([ending = ending_, closed = closed_] {
      ending->Done();
      ending->Closed();
      closed->Call();
    });
  }
  ~GuardedStream() override { ending_->Done(); }

  bool Write(std::string bytes) override { return inner_->Write(std::move(bytes)); }
  bool WriteShared(base::SharedBytes bytes) override {
    return inner_->WriteShared(std::move(bytes));
  }
  bool HasRoom() const override { return inner_->HasRoom(); }
  void OnRoom(std::function<void()> callback) override { inner_->OnRoom(std::move(callback)); }
  void Close() override { inner_->Close(); }
  void Abort() override { inner_->Abort(); }
  void OnClosed(std::function<void()> callback) override { closed_->Set(std::move(callback)); }

 private:
  const std::shared_ptr<base::HttpStream> inner_;
  const EndingPtr ending_;
  const std::shared_ptr<LateCallback> closed_;
};

class GuardedTunnel : public base::HttpTunnel {
 public:
  GuardedTunnel(std::shared_ptr<base::HttpTunnel> inner, EndingPtr ending)
      : inner_(std::move(inner)), ending_(std::move(ending)) {}
  ~GuardedTunnel() override { ending_->Done(); }

  void Start(Callbacks callbacks) override {
    callbacks.on_closed = [ending = ending_, then = std::move(callbacks.on_closed)] {
      ending->Done();
      ending->Closed();
      if (then) then();
    };
    inner_->Start(std::move(callbacks));
  }
  void Read() override { inner_->Read(); }
  bool Write(std::string bytes) override { return inner_->Write(std::move(bytes)); }
  bool HasRoom() const override { return inner_->HasRoom(); }
  void OnRoom(std::function<void()> callback) override { inner_->OnRoom(std::move(callback)); }
  void EndWriting() override { inner_->EndWriting(); }
  void Abort() override { inner_->Abort(); }

 private:
  const std::shared_ptr<base::HttpTunnel> inner_;
  const EndingPtr ending_;
};

// What a handler gets that begins a stream too late.
class EndedStream : public base::HttpStream {
 public:
  explicit EndedStream(EndingPtr ending) : ending_(std::move(ending)) {}
  ~EndedStream() override { ending_->Done(); }

  bool Write(std::string) override { return false; }
  bool HasRoom() const override { return false; }
  // A writer that asks again in the callback would never end.
  void OnRoom(std::function<void()>) override {}
  void Close() override {}
  void Abort() override {}
  void OnClosed(std::function<void()> callback) override { callback(); }

 private:
  const EndingPtr ending_;
};

}  // namespace

GuardedResponder::GuardedResponder(std::shared_ptr<base::HttpResponder> inner, Hooks hooks)
    : ending_(std::make_shared<Ending>(std::move(hooks))),
      closed_(std::make_shared<LateCallback>()),
      inner_(std::move(inner)) {
  absl::MutexLock lock(&mu_);
  inner_->OnClosed([ending = ending_, closed = closed_] {
    ending->Closed();
    closed->Call();
  });
}

GuardedResponder::~GuardedResponder() {
  // A handler that begins a stream may drop the responder and keep the stream.
  if (!ending_->GoesOn()) ending_->Done();
}

std::shared_ptr<base::HttpResponder> GuardedResponder::Take() {
  absl::MutexLock lock(&mu_);
  return std::exchange(inner_, nullptr);
}

void GuardedResponder::Hold(std::shared_ptr<const void> held) { ending_->Hold(std::move(held)); }

void GuardedResponder::HoldUntilStream(std::shared_ptr<const void> held) {
  ending_->HoldUntilStream(std::move(held));
}

void GuardedResponder::Send(base::HttpResponse response) {
  const std::shared_ptr<base::HttpResponder> inner = Take();
  if (inner != nullptr) {
    ending_->Complete(response);
    ending_->SetCode(response.code);
    return ending_->Deliver(std::move(response),
                            [ending = ending_, inner](base::HttpResponse whole) {
                              // It precedes the sending, so that a client that has read the answer
                              // finds it in the audit log, and its place free.
                              ending->Done();
                              inner->Send(std::move(whole));
                            });
  }
  ending_->Done();
}

std::shared_ptr<base::HttpStream> GuardedResponder::StartStream(base::HttpResponse head) {
  const std::shared_ptr<base::HttpResponder> inner = Take();
  // The deadline has answered already.
  if (inner == nullptr) return std::make_shared<EndedStream>(ending_);
  ending_->Complete(head);
  ending_->Started(head.code);
  auto stream =
      std::make_shared<GuardedStream>(inner->StartStream(std::move(head)), ending_, closed_);
  ending_->Track(std::shared_ptr<base::HttpStream>(stream));
  return stream;
}

std::shared_ptr<base::HttpTunnel> GuardedResponder::Upgrade(base::HttpResponse head) {
  const std::shared_ptr<base::HttpResponder> inner = Take();
  if (inner == nullptr) return nullptr;
  ending_->Complete(head);
  const int code = head.code;
  std::shared_ptr<base::HttpTunnel> opened = inner->Upgrade(std::move(head));
  if (opened == nullptr) return nullptr;
  ending_->Started(code);
  auto tunnel = std::make_shared<GuardedTunnel>(std::move(opened), ending_);
  ending_->Track(std::shared_ptr<base::HttpTunnel>(tunnel));
  return tunnel;
}

void GuardedResponder::Abort() {
  if (const std::shared_ptr<base::HttpResponder> inner = Take()) inner->Abort();
  ending_->Done();
}

void GuardedResponder::OnClosed(std::function<void()> callback) {
  closed_->Set(std::move(callback));
}

void GuardedResponder::Expire(base::HttpResponse response) {
  if (const std::shared_ptr<base::HttpResponder> inner = Take()) {
    ending_->Complete(response);
    // The handler may go on: what the request holds is freed only when it has dropped the
    // responder.
    ending_->Finish(response.code);
    return inner->Send(std::move(response));
  }
  ending_->Cut();
}

std::function<void(base::HttpResponse)> GuardedResponder::Expirer() {
  // The timer that calls it must not keep a request alive that has been answered.
  return [weak = weak_from_this(),
          ending = std::weak_ptr<Ending>(ending_)](base::HttpResponse response) {
    if (const auto responder = weak.lock()) return responder->Expire(std::move(response));
    // The responder is dropped, but its stream or tunnel lives.
    if (const auto going_on = ending.lock()) going_on->Cut();
  };
}

}  // namespace kube::aggregation
