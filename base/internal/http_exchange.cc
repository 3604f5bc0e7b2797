// The answer to one request is waiting, streaming, finished or aborted. Send finishes it in one
// step; StartStream makes it streaming, Write adds to it, and Close finishes it. It is aborted by
// Abort, by a peer that reads so slowly that the backlog grows too large, and by a handler that
// drops its last handle too early. The handler's calls and the connection's Take meet in outbox_,
// under mu_, from any thread.
//
// The connection is woken once until it takes again (awake_), except when the answer is aborted or
// a stream ends: it has to know that at once. Detach separates the exchange from the connection:
// the handler's calls have no effect any more, and the callback of OnClosed is run, without the
// lock.
#include "base/internal/http_exchange.h"

#include <utility>

namespace base::internal {
namespace {

class Stream : public HttpStream {
 public:
  explicit Stream(std::shared_ptr<Exchange> exchange) : exchange_(std::move(exchange)) {}
  ~Stream() override { exchange_->AbortUnlessFinished(); }
  bool Write(std::string bytes) override { return exchange_->Write(bytes); }
  void Close() override { exchange_->Close(); }
  void Abort() override { exchange_->Abort(); }
  void OnClosed(std::function<void()> callback) override {
    exchange_->OnClosed(std::move(callback));
  }

 private:
  const std::shared_ptr<Exchange> exchange_;
};

class Responder : public HttpResponder {
 public:
  explicit Responder(std::shared_ptr<Exchange> exchange) : exchange_(std::move(exchange)) {}
  ~Responder() override { exchange_->AbortUnlessStarted(); }
  void Send(HttpResponse response) override { exchange_->Send(std::move(response)); }
  std::shared_ptr<HttpStream> StartStream(HttpResponse head) override {
    exchange_->StartStream(head);
    return std::make_shared<Stream>(exchange_);
  }
  void Abort() override { exchange_->Abort(); }

 private:
  const std::shared_ptr<Exchange> exchange_;
};

}  // namespace

void ServerThreads::Run(std::function<void()> work) {
  {
    absl::MutexLock lock(&mu_);
    if (post_) return post_(std::move(work));
  }
  work();
}

void ServerThreads::Retire() {
  absl::MutexLock lock(&mu_);
  post_ = nullptr;
}

void Exchange::Send(HttpResponse response) {
  absl::MutexLock lock(&mu_);
  if (state_ != State::kWaiting || listener_ == nullptr) return;
  outbox_ = FormatHead(response, options_.rules, Framing::kLength);
  if (HasBody(response.code, options_.rules)) outbox_ += response.body;
  SetState(State::kFinished);
}

void Exchange::StartStream(const HttpResponse& head) {
  absl::MutexLock lock(&mu_);
  if (state_ != State::kWaiting || listener_ == nullptr) return;
  framing_ = options_.rules.http10 ? Framing::kUntilClose : Framing::kChunked;
  if (options_.rules.http10) options_.rules.keep_alive = false;
  has_body_ = HasBody(head.code, options_.rules);
  outbox_ = FormatHead(head, options_.rules, framing_);
  AppendBody(head.body);
  SetState(State::kStreaming);
}

bool Exchange::Write(absl::string_view bytes) {
  absl::MutexLock lock(&mu_);
  if (state_ != State::kStreaming || listener_ == nullptr) return false;
  if (outbox_.size() + in_flight_ + bytes.size() > options_.max_backlog_bytes) {
    outbox_.clear();
    SetState(State::kAborted);
    return false;
  }
  AppendBody(bytes);
  Notify();
  return true;
}

void Exchange::Close() {
  absl::MutexLock lock(&mu_);
  if (state_ != State::kStreaming) return;
  if (framing_ == Framing::kChunked && has_body_) AppendLastChunk(outbox_);
  SetState(State::kFinished);
}

void Exchange::Abort() {
  absl::MutexLock lock(&mu_);
  outbox_.clear();
  SetState(State::kAborted);
}

void Exchange::OnClosed(std::function<void()> callback) {
  std::shared_ptr<ServerThreads> threads;
  {
    absl::MutexLock lock(&mu_);
    if (listener_ != nullptr) {
      on_closed_ = std::move(callback);
      return;
    }
    threads = options_.threads;
  }
  threads->Run(std::move(callback));
}

void Exchange::AbortUnlessFinished() {
  absl::MutexLock lock(&mu_);
  if (state_ != State::kFinished) SetState(State::kAborted);
}

void Exchange::AbortUnlessStarted() {
  absl::MutexLock lock(&mu_);
  if (state_ == State::kWaiting) SetState(State::kAborted);
}

Exchange::Output Exchange::Take() {
  absl::MutexLock lock(&mu_);
  awake_ = false;
  in_flight_ = outbox_.size();
  return {std::exchange(outbox_, {}), state_ == State::kFinished};
}

Exchange::Progress Exchange::progress() const {
  absl::MutexLock lock(&mu_);
  return state_;
}

bool Exchange::keep_alive() const {
  absl::MutexLock lock(&mu_);
  return options_.rules.keep_alive;
}

void Exchange::Detach() {
  std::function<void()> callback;
  {
    absl::MutexLock lock(&mu_);
    listener_ = nullptr;
    outbox_ = {};
    callback = std::exchange(on_closed_, nullptr);
  }
  if (callback) callback();
}

void Exchange::AppendBody(absl::string_view bytes) {
  if (!has_body_) return;
  if (framing_ == Framing::kChunked) {
    AppendChunk(outbox_, bytes);
  } else {
    outbox_.append(bytes.data(), bytes.size());
  }
}

void Exchange::SetState(State state) {
  // The connection must learn of these states even while it waits for a peer that does not read.
  const bool urgent = state == State::kAborted || state_ == State::kStreaming;
  state_ = state;
  if (urgent) awake_ = false;
  Notify();
}

void Exchange::Notify() {
  if (awake_ || listener_ == nullptr) return;
  awake_ = true;
  listener_->Wake();
}

std::shared_ptr<HttpResponder> NewResponder(std::shared_ptr<Exchange> exchange) {
  return std::make_shared<Responder>(std::move(exchange));
}

}  // namespace base::internal
