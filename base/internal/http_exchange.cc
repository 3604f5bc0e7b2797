// The answer to one request is waiting, streaming, a tunnel, finished or aborted. Send finishes it
// in one step; StartStream makes it streaming, Write adds to it, and Close finishes it. Upgrade
// makes it a tunnel, in which Close ends only what is written. It is aborted by Abort, by a peer
// that reads so slowly that the backlog grows too large, by a stream that does not keep to the
// length that it announced, and by a handler that drops its last handle too early. The handler's
// calls and the connection's Take meet in outbox_, under mu_, from any thread.
//
// The connection is woken once until it takes again (awake_), except when the answer is aborted, a
// stream ends, or the reader of a tunnel wants bytes: it has to know that at once, even while a
// write is stuck. Callbacks for room and for the bytes of a tunnel run on the connection's strand,
// one at a time and without the lock. Detach separates the exchange from the connection: the
// handler's calls have no effect any more, and the callbacks that wait for an end are run.

#include "base/internal/http_exchange.h"

#include <utility>

namespace base::internal {
namespace {

// The window of a stream while too much waits in all of them.
constexpr size_t kTightWindow = 16 << 10;

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

Exchange::~Exchange() {
  absl::MutexLock lock(&mu_);
  options_.outputs->End(account_);
  options_.outputs->End(input_account_);
}

void Exchange::Send(HttpResponse response) {
  absl::MutexLock lock(&mu_);
  // A second answer, or one to a peer that has gone, has no effect and is not an error.
  if (state_ != State::kWaiting || listener_ == nullptr) return;
  if (response.close_connection) options_.rules.keep_alive = false;
  response.stream_length = std::nullopt;
  outbox_.Append(FormatHead(response, options_.rules, Framing::kLength));
  if (HasBody(response.code, options_.rules)) {
    outbox_.Append(std::move(response.body));
    for (SharedBytes& bytes : response.more_body) outbox_.Append(std::move(bytes));
  }
  Count();
  SetState(State::kFinished);
}

void Exchange::StartStream(HttpResponse head) {
  absl::MutexLock lock(&mu_);
  if (state_ != State::kWaiting || listener_ == nullptr) return;
  const bool unknown = !head.stream_length.has_value();
  framing_ = unknown ? Framing::kChunked : Framing::kLength;
  // HTTP/1.0 has no chunks: there the end of the connection is the end of the body.
  if (unknown && options_.rules.http10) framing_ = Framing::kUntilClose;
  if (framing_ == Framing::kUntilClose || head.close_connection) options_.rules.keep_alive = false;
  has_body_ = HasBody(head.code, options_.rules);
  if (has_body_) length_left_ = head.stream_length;
  outbox_.Append(FormatHead(head, options_.rules, framing_));
  Count();
  SetState(State::kStreaming);
  head.more_body.insert(head.more_body.begin(),
                        std::make_shared<const std::string>(std::move(head.body)));
  for (SharedBytes& bytes : head.more_body) {
    if (!MayWrite(bytes->size())) return;
    AppendBody(std::move(bytes));
  }
}

void Exchange::Upgrade(const HttpResponse& head) {
  absl::MutexLock lock(&mu_);
  if (state_ != State::kWaiting || listener_ == nullptr) return;
  framing_ = Framing::kUntilClose;
  options_.rules.keep_alive = false;
  outbox_.Append(FormatHead(head, options_.rules, framing_));
  SetState(State::kTunnel);
}

// Returns whether the answer takes so many bytes more.
bool Exchange::MayWrite(size_t count) {
  const bool open = state_ == State::kStreaming || (state_ == State::kTunnel && !output_ended_);
  if (!open || listener_ == nullptr) return false;
  // Backlogs are bounded: a peer that does not read must not fill the memory.
  const bool too_slow = outbox_.size() + in_flight_ + count > options_.max_backlog_bytes;
  if (too_slow || (length_left_ && count > *length_left_)) {
    Cut();
    return false;
  }
  if (length_left_) *length_left_ -= count;
  return true;
}

namespace {

size_t SizeOf(const std::string& bytes) { return bytes.size(); }
size_t SizeOf(const SharedBytes& bytes) { return bytes->size(); }

}  // namespace

template <class Bytes>
bool Exchange::Write(Bytes bytes) {
  absl::MutexLock lock(&mu_);
  if (!MayWrite(SizeOf(bytes))) return false;
  AppendBody(std::move(bytes));
  Notify();
  return true;
}
template bool Exchange::Write(std::string bytes);
template bool Exchange::Write(SharedBytes bytes);

template <class Bytes>
void Exchange::AppendBody(Bytes bytes) {
  const size_t size = SizeOf(bytes);
  if (!has_body_ || size == 0) return;
  if (framing_ == Framing::kChunked) outbox_.Append(ChunkHead(size));
  outbox_.Append(std::move(bytes));
  if (framing_ == Framing::kChunked) outbox_.Append(kChunkTail);
  Count();
}

bool Exchange::HasRoomNow() const {
  const bool open = state_ == State::kStreaming || state_ == State::kTunnel;
  const size_t waiting = outbox_.size() + in_flight_;
  if (!open || listener_ == nullptr || waiting >= options_.window_bytes) return false;
  return waiting < kTightWindow || !options_.outputs->IsTight();
}

void Exchange::Count(bool progress) {
  options_.outputs->Set(account_, outbox_.size() + in_flight_, progress);
}

bool Exchange::HasRoom() const {
  absl::MutexLock lock(&mu_);
  return HasRoomNow();
}

void Exchange::OnRoom(std::function<void()> callback) {
  // Declared before the lock, because the destructors of a callback may call this object.
  Callback replaced;
  absl::MutexLock lock(&mu_);
  if (listener_ == nullptr) return;
  replaced = std::exchange(on_room_, std::move(callback));
  if (on_room_ && HasRoomNow()) NotifyAtOnce();
}

void Exchange::ReportRoom() {
  Callback callback;
  {
    absl::MutexLock lock(&mu_);
    if (!on_room_ || !HasRoomNow()) return;
    callback = std::exchange(on_room_, nullptr);
  }
  callback();
}

void Exchange::Close() {
  absl::MutexLock lock(&mu_);
  if (state_ == State::kTunnel) {
    output_ended_ = true;
    return NotifyAtOnce();
  }
  if (state_ != State::kStreaming) return;
  if (length_left_.value_or(0) > 0) return Cut();
  if (framing_ == Framing::kChunked && has_body_) outbox_.Append(kLastChunk);
  SetState(State::kFinished);
}

void Exchange::Abort() {
  absl::MutexLock lock(&mu_);
  Cut();
}

void Exchange::Cut() {
  outbox_.Clear();
  Count();
  SetState(State::kAborted);
}

void Exchange::OnClosed(std::function<void()> callback) {
  std::shared_ptr<ServerThreads> threads;
  {
    Callback replaced;
    absl::MutexLock lock(&mu_);
    // A callback that is set too late is called all the same, on a server thread while there are
    // any: the caller may hold locks that it takes.
    const bool given_up = peer_ended_ && state_ == State::kWaiting;
    if (listener_ != nullptr && !given_up) {
      replaced = std::exchange(on_closed_, std::move(callback));
      return;
    }
    threads = options_.threads;
  }
  if (callback) threads->Run(std::move(callback));
}

void Exchange::StartTunnel(HttpTunnel::Callbacks callbacks) {
  auto shared = std::make_shared<HttpTunnel::Callbacks>(std::move(callbacks));
  std::shared_ptr<ServerThreads> threads;
  {
    absl::MutexLock lock(&mu_);
    if (listener_ != nullptr) {
      tunnel_ = std::move(shared);
      return;
    }
    threads = options_.threads;
  }
  threads->Run([shared] {
    if (shared->on_closed) shared->on_closed();
  });
}

void Exchange::Read() {
  absl::MutexLock lock(&mu_);
  wants_bytes_ = true;
  // The reader has dealt with what it was given.
  took_input_ |= given_ > 0;
  given_ = 0;
  if (!delivering_) NotifyAtOnce();
}

bool Exchange::wants_bytes() const {
  absl::MutexLock lock(&mu_);
  return wants_bytes_ && state_ == State::kTunnel && tunnel_ != nullptr && !input_ended_;
}

void Exchange::CountInput(size_t ahead) {
  absl::MutexLock lock(&mu_);
  options_.outputs->Set(input_account_, given_ + ahead, std::exchange(took_input_, false));
}

std::shared_ptr<HttpTunnel::Callbacks> Exchange::BeginDelivery(size_t bytes, bool end) {
  absl::MutexLock lock(&mu_);
  given_ = bytes;
  // It is cleared before the callback, which may ask for more bytes at once. Then Read does not
  // wake the connection, which looks at wants_bytes after the delivery.
  wants_bytes_ = false;
  delivering_ = true;
  input_ended_ = end;
  return tunnel_;
}

void Exchange::EndDelivery() {
  absl::MutexLock lock(&mu_);
  delivering_ = false;
}

void Exchange::Deliver(std::string bytes) {
  const auto callbacks = BeginDelivery(bytes.size(), /*end=*/false);
  if (callbacks != nullptr && callbacks->on_data) callbacks->on_data(std::move(bytes));
  EndDelivery();
}

void Exchange::DeliverEnd() {
  const auto callbacks = BeginDelivery(0, /*end=*/true);
  if (callbacks != nullptr && callbacks->on_end) callbacks->on_end();
  EndDelivery();
}

void Exchange::AbortUnlessFinished() {
  absl::MutexLock lock(&mu_);
  if (state_ == State::kFinished) return;
  if (state_ == State::kTunnel && output_ended_) {
    state_ = State::kFinished;
    return NotifyAtOnce();
  }
  SetState(State::kAborted);
}

void Exchange::AbortUnlessStarted() {
  absl::MutexLock lock(&mu_);
  if (state_ == State::kWaiting) SetState(State::kAborted);
}

Exchange::Output Exchange::Take() {
  absl::MutexLock lock(&mu_);
  awake_ = false;
  // The last block was written, so the peer reads.
  const bool progress = in_flight_ > 0;
  OutgoingBytes::Block block = outbox_.Take();
  in_flight_ = block.bytes().size();
  Count(progress);
  const bool ended = state_ == State::kFinished || (state_ == State::kTunnel && output_ended_);
  return {std::move(block), ended && outbox_.size() == 0};
}

Exchange::Progress Exchange::progress() const {
  absl::MutexLock lock(&mu_);
  return state_;
}

bool Exchange::keep_alive() const {
  absl::MutexLock lock(&mu_);
  return options_.rules.keep_alive;
}

void Exchange::ReportPeerEnd() {
  Callback callback;
  {
    absl::MutexLock lock(&mu_);
    peer_ended_ = true;
    if (state_ == State::kWaiting) callback = std::exchange(on_closed_, nullptr);
  }
  if (callback) callback();
}

void Exchange::Detach() {
  Callback closed, room;
  std::shared_ptr<HttpTunnel::Callbacks> tunnel;
  {
    absl::MutexLock lock(&mu_);
    options_.outputs->End(account_);
    options_.outputs->End(input_account_);
    listener_ = nullptr;
    outbox_.Clear();
    closed = std::exchange(on_closed_, nullptr);
    room = std::exchange(on_room_, nullptr);
    tunnel = std::exchange(tunnel_, nullptr);
  }
  if (room) room();
  if (closed) closed();
  if (tunnel != nullptr && tunnel->on_closed) tunnel->on_closed();
}

void Exchange::SetState(State state) {
  // The connection must learn of these states even while it waits for a peer that does not read.
  const bool urgent = state == State::kAborted || state_ == State::kStreaming;
  state_ = state;
  // The connection is woken even if it has been already.
  if (urgent) awake_ = false;
  Notify();
}

void Exchange::Notify() {
  if (awake_ || listener_ == nullptr) return;
  awake_ = true;
  listener_->Wake();
}

void Exchange::NotifyAtOnce() {
  awake_ = false;
  Notify();
}

}  // namespace base::internal
