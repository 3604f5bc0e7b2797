// A stream goes through these phases: its host name is looked up on another thread; the connection
// is established; the request is written; the answer is read until it ends. All phases before the
// answer share one deadline, and the head of the answer has one of its own. Afterwards only the
// silence is limited: data only records when it came, and the timer, when it is due, checks whether
// that is too long ago.
//
// All streams share one thread, so each reads one block per turn. Bytes that are left in the socket
// wake the stream again. Bytes that a TLS layer holds are read at once, up to a limit; then the
// stream posts a call to itself.

#include "kube/http/internal/lean_stream.h"

#include <algorithm>
#include <utility>

#include "absl/strings/str_cat.h"
#include "base/status.h"

namespace kube {
namespace {

// As in Go's client.
constexpr absl::Duration kDialTimeout = absl::Seconds(30);
// How many blocks of a TLS layer are read before other streams have their turn.
constexpr int kBlocksPerTurn = 16;

}  // namespace

LeanStream::LeanStream(std::weak_ptr<EventLoop> loop, std::shared_ptr<StreamDelivery> delivery,
                       absl::Duration longest_silence)
    : loop_(std::move(loop)),
      delivery_(std::move(delivery)),
      longest_silence_(longest_silence),
      phase_deadline_(SteadyNow() + std::min(kDialTimeout, longest_silence)),
      last_data_(SteadyNow()) {}

void LeanStream::Start(Reactor& reactor, absl::StatusOr<StreamRequest> request) {
  if (phase_ == Phase::kOver) return;
  if (!request.ok()) return End(reactor, request.status());
  request_ = *std::move(request);
  phase_deadline_ = SteadyNow() + std::min(kDialTimeout, longest_silence_);
  reactor.SetTimer(shared_from_this(), NextTimer());
  const Route& route = *request_.route;
  if (const auto address = NumericAddress(route.dialled_host(), route.dialled_port())) {
    return Connect(reactor, Addresses{*address});
  }
  Resolve();
}

void LeanStream::Resolve() {
  const Route& route = *request_.route;
  // Weak pointers: a look-up takes as long as it takes, and must not keep a stream that was closed.
  ResolveInBackground({route.dialled_host(), route.dialled_port(), route.urgent},
                      [loop = loop_, weak = weak_from_this()](absl::StatusOr<Addresses> addresses) {
                        const std::shared_ptr<EventLoop> alive = loop.lock();
                        if (alive == nullptr) return;
                        alive->Post([weak, addresses = std::move(addresses)](Reactor& reactor) {
                          const std::shared_ptr<LeanStream> self = weak.lock();
                          if (self != nullptr) self->Connect(reactor, addresses);
                        });
                      });
}

void LeanStream::Connect(Reactor& reactor, absl::StatusOr<Addresses> addresses) {
  if (phase_ != Phase::kResolving) return;
  if (!addresses.ok()) return End(reactor, NotProcessed(addresses.status()));
  connection_ = std::make_unique<Connection>(request_.route, *std::move(addresses));
  parser_ = std::make_unique<ResponseParser>(
      ResponseParser::Options(),
      ResponseParser::Callbacks{
          .on_head =
              [this](const HttpResponse& head) {
                has_head_ = true;
                delivery_->Head(head).IgnoreError();
              },
          .on_body = [this](absl::string_view bytes) { return delivery_->Data(bytes); }});
  phase_ = Phase::kEstablishing;
  Advance(reactor);
}

absl::StatusOr<bool> LeanStream::Establish() {
  absl::StatusOr<bool> established = connection_->Establish();
  return established.ok() ? established : NotProcessed(established.status());
}

absl::StatusOr<bool> LeanStream::Write() {
  while (written_ < request_.text.size()) {
    const IoResult result = connection_->Write(absl::string_view(request_.text).substr(written_));
    if (result.state == IoState::kDone) {
      written_ += result.bytes;
    } else if (result.state == IoState::kBroken || result.state == IoState::kEnd) {
      const std::string why = result.error.empty() ? "closed by the peer" : result.error;
      return NotProcessed(absl::UnavailableError(
          absl::StrCat("the connection broke before the request was sent: ", why)));
    } else {
      return false;
    }
  }
  // There are thousands of streams: the text is freed as soon as it was sent.
  std::string().swap(request_.text);
  last_data_ = SteadyNow();
  return true;
}

absl::StatusOr<bool> LeanStream::Read(Reactor& reactor) {
  const absl::Span<char> scratch = reactor.scratch();
  // Bytes that are left in the socket wake the loop again. Checking for them each time would cost a
  // call of recv() for each event, and a buffer of 16 kB that OpenSSL allocates and frees.
  for (int blocks = 0; blocks == 0 || connection_->has_pending(); ++blocks) {
    if (blocks == kBlocksPerTurn) {
      ComeBack();
      return false;
    }
    const IoResult result = connection_->Read(scratch.data(), scratch.size());
    if (result.state == IoState::kWantRead || result.state == IoState::kWantWrite) return false;
    if (result.state != IoState::kDone) {
      if (parser_->End(result.state == IoState::kEnd).ok()) return true;
      const std::string why = result.error.empty() ? "closed by the peer" : result.error;
      return absl::UnavailableError(
          absl::StrCat(parser_->started() ? "the connection broke inside the answer: "
                                          : "the connection broke before an answer came: ",
                       why));
    }
    last_data_ = SteadyNow();
    RETURN_IF_ERROR(parser_->Feed(absl::string_view(scratch.data(), result.bytes)));
    if (parser_->done()) return true;
  }
  return false;
}

// Posts a call, because poll does not announce bytes that wait inside a TLS layer.
void LeanStream::ComeBack() {
  const std::shared_ptr<EventLoop> alive = loop_.lock();
  if (alive == nullptr || std::exchange(comes_back_, true)) return;
  alive->Post([weak = weak_from_this()](Reactor& reactor) {
    const std::shared_ptr<LeanStream> self = weak.lock();
    if (self == nullptr || self->phase_ != Phase::kReading) return;
    self->comes_back_ = false;
    self->Advance(reactor);
  });
}

absl::StatusOr<bool> LeanStream::DoPhase(Reactor& reactor) {
  switch (phase_) {
    case Phase::kEstablishing:
      return Establish();
    case Phase::kWriting:
      return Write();
    case Phase::kReading:
      return Read(reactor);
    default:
      return false;
  }
}

void LeanStream::Advance(Reactor& reactor) {
  while (phase_ == Phase::kEstablishing || phase_ == Phase::kWriting || phase_ == Phase::kReading) {
    const absl::StatusOr<bool> over = DoPhase(reactor);
    if (!over.ok()) return End(reactor, over.status());
    if (!*over) break;
    if (phase_ == Phase::kReading) return End(reactor, absl::OkStatus());
    phase_ = phase_ == Phase::kEstablishing ? Phase::kWriting : Phase::kReading;
    if (phase_ == Phase::kReading) phase_deadline_ = last_data_ + longest_silence_;
    reactor.SetTimer(shared_from_this(), NextTimer());
  }
  // A callback of this very turn may have closed the stream.
  if (delivery_->closed()) return Cancel(reactor);
  const absl::Status watched = reactor.Watch(shared_from_this(), connection_->interest());
  if (!watched.ok()) return End(reactor, watched);
  if (phase_ == Phase::kEstablishing) reactor.SetTimer(shared_from_this(), NextTimer());
}

base::SteadyTime LeanStream::NextTimer() const {
  if (phase_ == Phase::kReading) {
    return has_head_ ? last_data_ + longest_silence_ : phase_deadline_;
  }
  const base::SteadyTime look_again =
      connection_ == nullptr ? base::SteadyTime::InfiniteFuture() : connection_->look_again();
  return std::min(look_again, phase_deadline_);
}

absl::Status LeanStream::TimedOut() const {
  if (phase_ == Phase::kReading && !has_head_ && parser_->started()) {
    return absl::UnavailableError(absl::StrCat("the head of the answer has not come whole within ",
                                               absl::FormatDuration(longest_silence_)));
  }
  if (phase_ == Phase::kReading || longest_silence_ < kDialTimeout) {
    return absl::UnavailableError(
        absl::StrCat("no data for ", absl::FormatDuration(longest_silence_)));
  }
  if (phase_ == Phase::kResolving) {
    return NotProcessed(absl::UnavailableError(
        absl::StrCat("the host name \"", request_.route->dialled_host(),
                     "\" cannot be resolved within ", absl::FormatDuration(kDialTimeout))));
  }
  return NotProcessed(
      absl::UnavailableError(absl::StrCat("no connection to ", request_.route->DialledName(),
                                          " within ", absl::FormatDuration(kDialTimeout))));
}

void LeanStream::OnReady(Reactor& reactor) { Advance(reactor); }

void LeanStream::OnTimer(Reactor& reactor) {
  const base::SteadyTime now = SteadyNow();
  const bool late = phase_ == Phase::kReading ? now >= NextTimer() : now >= phase_deadline_;
  if (late) return End(reactor, TimedOut());
  if (phase_ == Phase::kEstablishing) return Advance(reactor);  // Perhaps another address works.
  reactor.SetTimer(shared_from_this(), NextTimer());
}

void LeanStream::Cancel(Reactor& reactor) {
  phase_ = Phase::kOver;
  reactor.Remove(this);
  connection_ = nullptr;
}

void LeanStream::End(Reactor& reactor, absl::Status status) {
  const auto self = shared_from_this();
  Cancel(reactor);
  delivery_->End(std::move(status));
}

}  // namespace kube
