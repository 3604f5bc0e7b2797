// A forward goes through these phases: it gets credentials and an address, on other threads if that
// takes time; the connection is established, unless a kept one is taken; the request is written;
// the head of the answer is read; its body is read and handed over block by block. After an upgrade
// the body's place is taken by bytes in both directions, until either side ends. One deadline
// limits everything up to the connection, another one the rest up to the head.
//
// The socket is read only while somebody wants the next block. When nothing is wanted and nothing
// has to be written, the call leaves the reactor, which would report a closed socket again and
// again, and the next Read() or Write() brings it back.
//
// A kept connection may have been closed by the server at the same moment. As long as nothing of an
// answer has arrived, the request is sent again on another connection, unless it was a write that
// has been sent completely, because the server may have carried it out.

#include "kube/http/internal/forward_call.h"

#include <poll.h>

#include <algorithm>
#include <utility>

#include "absl/strings/str_cat.h"
#include "base/status.h"
#include "kube/http/internal/connection_pool.h"
#include "kube/http/internal/errands.h"
#include "kube/http/internal/resolver.h"

namespace kube {
namespace {

// A pool may hold several connections that the server closed at the same time.
constexpr int kMaxResends = 4;

bool IsRead(absl::string_view method) {
  return method == "GET" || method == "HEAD" || method == "OPTIONS";
}

}  // namespace

ForwardCall::ForwardCall(std::shared_ptr<ServerAccess> server, ForwardRequest request,
                         ForwardCallbacks callbacks)
    : server_(std::move(server)),
      request_(std::move(request)),
      callbacks_(std::move(callbacks)),
      deadline_(SteadyNow() + request_.connect_timeout) {}

ForwardCall::~ForwardCall() = default;

short ForwardCall::WantOf(const IoResult& result) {
  return result.state == IoState::kWantWrite ? POLLOUT : POLLIN;
}

void ForwardCall::Post(void (ForwardCall::*function)(Reactor&)) {
  server_->loop()->Post(
      [self = shared_from_this(), function](Reactor& reactor) { ((*self).*function)(reactor); });
}

void ForwardCall::Start() {
  // Each function that is posted owns the call: it lives until the last of them has run.
  const auto begin = [self = shared_from_this()](absl::StatusOr<CredentialsPtr> credentials) {
    self->server_->loop()->Post([self, credentials = std::move(credentials)](Reactor& reactor) {
      self->Begin(reactor, credentials);
    });
  };
  if (CredentialsPtr fresh = server_->credentials().GetIfFresh(); fresh != nullptr) {
    // No thread has to be asked.
    return begin(std::move(fresh));
  }
  CredentialErrands().Run(server_->subject(), [server = server_, begin, deadline = deadline_,
                                               token = stop_.get_token()] {
    begin(server->credentials().Get(deadline, token));
  });
}

void ForwardCall::Begin(Reactor& reactor, const absl::StatusOr<CredentialsPtr>& credentials) {
  if (phase_ == Phase::kOver) return;
  if (!credentials.ok()) return End(reactor, credentials.status());
  credentials_ = *credentials;
  const absl::Status prepared = Prepare(*credentials_);
  if (!prepared.ok()) return End(reactor, prepared);
  reactor.SetTimer(shared_from_this(), deadline_);
  // An upgrade takes a connection of its own, which never becomes idle again.
  Attempt(reactor, /*with_kept=*/request_.upgrade.empty());
}

absl::Status ForwardCall::Prepare(const Credentials& credentials) {
  ASSIGN_OR_RETURN(peer_, server_->PeerFor(credentials));
  RequestText text{.method = request_.method,
                   .target = request_.path,
                   .headers = EndToEndHeaders(request_.headers),
                   .body = request_.body};
  // The server must see one identity: this program's, not one that the client has sent along.
  if (!credentials.authorization.empty()) RemoveHeader(text.headers, "Authorization");
  if (!request_.upgrade.empty()) {
    text.headers.emplace_back("Connection", "Upgrade");
    text.headers.emplace_back("Upgrade", request_.upgrade);
  }
  ASSIGN_OR_RETURN(text_, server_->TextOf(std::move(text), credentials));
  std::string().swap(request_.body);
  request_.headers.clear();
  return absl::OkStatus();
}

void ForwardCall::Attempt(Reactor& reactor, bool with_kept) {
  NewParser();
  written_ = 0;
  sent_ = false;
  write_error_ = absl::OkStatus();
  connection_ = with_kept ? peer_.pool->TakeIdle() : nullptr;
  kept_ = connection_ != nullptr;
  if (kept_) {
    BeginWriting(reactor);
    return Advance(reactor);
  }
  phase_ = Phase::kResolving;
  const Route& route = *peer_.route;
  if (const auto address = NumericAddress(route.dialled_host(), route.dialled_port())) {
    return Connect(reactor, Addresses{*address});
  }
  Resolve();
}

void ForwardCall::Resolve() {
  const Route& route = *peer_.route;
  ResolveInBackground(
      {route.dialled_host(), route.dialled_port(), route.urgent},
      [self = shared_from_this()](absl::StatusOr<Addresses> addresses) {
        self->server_->loop()->Post([self, addresses = std::move(addresses)](Reactor& reactor) {
          self->Connect(reactor, addresses);
        });
      });
}

void ForwardCall::Connect(Reactor& reactor, absl::StatusOr<Addresses> addresses) {
  // The call was cancelled, or its time was over, while the name was looked up.
  if (phase_ != Phase::kResolving) return;
  if (!addresses.ok()) return End(reactor, NotProcessed(addresses.status()));
  connection_ = std::make_unique<Connection>(peer_.route, *std::move(addresses));
  phase_ = Phase::kEstablishing;
  Advance(reactor);
}

void ForwardCall::NewParser() {
  fields_.clear();
  parser_ = std::make_unique<ResponseParser>(
      ResponseParser::Options{.no_body = request_.method == "HEAD",
                              .accept_upgrade = !request_.upgrade.empty()},
      ResponseParser::Callbacks{
          .on_head = [this](const HttpResponse& head) { TakeHead(head); },
          .on_body =
              [this](absl::string_view bytes) {
                pending_.append(bytes.data(), bytes.size());
                return absl::OkStatus();
              },
          .on_field = [this](absl::string_view name,
                             absl::string_view value) { fields_.emplace_back(name, value); },
          // An answer 1xx has fields of its own, which do not belong to the final one.
          .on_interim = [this] { fields_.clear(); }});
}

void ForwardCall::BeginWriting(Reactor& reactor) {
  phase_ = Phase::kWriting;
  deadline_ = SteadyNow() + request_.head_timeout;
  reactor.SetTimer(shared_from_this(), deadline_);
}

void ForwardCall::Advance(Reactor& reactor) {
  if (phase_ == Phase::kOver || phase_ == Phase::kResolving) return;
  const absl::Status status = Proceed(reactor);
  if (phase_ == Phase::kOver) return;
  if (!status.ok()) return Fail(reactor, status);
  Rewatch(reactor);
}

absl::Status ForwardCall::Proceed(Reactor& reactor) {
  if (phase_ == Phase::kEstablishing) RETURN_IF_ERROR(Establish(reactor));
  if (phase_ == Phase::kWriting) RETURN_IF_ERROR(WriteRequest());
  if (phase_ == Phase::kTunnel) RETURN_IF_ERROR(WriteTunnel());
  if (phase_ == Phase::kHead || phase_ == Phase::kBody || phase_ == Phase::kTunnel) {
    RETURN_IF_ERROR(ReadOn(reactor));
  }
  if (phase_ == Phase::kTunnel && HasWrittenAll()) {
    std::string().swap(pending_);
    complete_ = true;
  }
  return absl::OkStatus();
}

absl::Status ForwardCall::Establish(Reactor& reactor) {
  const absl::StatusOr<bool> established = connection_->Establish();
  if (!established.ok()) return NotProcessed(established.status());
  if (*established) {
    BeginWriting(reactor);
  } else {
    reactor.SetTimer(shared_from_this(), std::min(connection_->look_again(), deadline_));
  }
  return absl::OkStatus();
}

absl::Status ForwardCall::WriteRequest() {
  while (written_ < text_.size()) {
    const IoResult result = connection_->Write(absl::string_view(text_).substr(written_));
    write_wants_ = WantOf(result);
    if (result.state == IoState::kWantRead || result.state == IoState::kWantWrite) {
      return absl::OkStatus();
    }
    if (result.state != IoState::kDone) {
      write_error_ = NotProcessed(absl::UnavailableError(
          absl::StrCat("the connection broke before the request was sent: ", Why(result))));
      break;  // The server may have answered before it had read everything.
    }
    written_ += result.bytes;
  }
  sent_ = written_ == text_.size();
  // It cannot be sent again, so its memory is free for others.
  if (sent_ && !MayBeStale()) DropText();
  read_wants_ = POLLIN;
  phase_ = Phase::kHead;
  return absl::OkStatus();
}

// Returns what the call waits for at its socket, if anything.
short ForwardCall::Events() const {
  switch (phase_) {
    case Phase::kEstablishing:
      return connection_->wants();
    case Phase::kWriting:
      return write_wants_;
    case Phase::kHead:
      return read_wants_;
    case Phase::kBody:
    case Phase::kTunnel:
      break;
    default:
      return 0;
  }
  // A body is read only when its reader asks: so a slow reader slows the server down.
  const bool reads = wants_ && pending_.empty();
  const bool writes = phase_ == Phase::kTunnel && tunnel_written_ < writing_.size();
  return static_cast<short>((reads ? read_wants_ : 0) | (writes ? write_wants_ : 0));
}

void ForwardCall::Rewatch(Reactor& reactor) {
  const auto self = shared_from_this();
  if (complete_ && pending_.empty()) return End(reactor, absl::OkStatus());
  const short events = Events();
  if (events == 0) return reactor.Remove(this);
  Reactor::Interest interest = connection_->interest();
  interest.events = events;
  const absl::Status watched = reactor.Watch(self, interest);
  if (!watched.ok()) return End(reactor, watched);
  if (phase_ == Phase::kBody || phase_ == Phase::kTunnel) {
    reactor.SetTimer(self, base::SteadyTime::InfiniteFuture());
  }
}

void ForwardCall::OnReady(Reactor& reactor) { Advance(reactor); }

void ForwardCall::OnTimer(Reactor& reactor) {
  if (phase_ == Phase::kBody || phase_ == Phase::kTunnel || phase_ == Phase::kOver) return;
  if (SteadyNow() >= deadline_) return End(reactor, TimedOut());
  reactor.SetTimer(shared_from_this(), deadline_);
  Advance(reactor);  // Perhaps another address works.
}

absl::Status ForwardCall::TimedOut() const {
  if (phase_ == Phase::kResolving || phase_ == Phase::kEstablishing) {
    return NotProcessed(absl::UnavailableError(
        absl::StrCat("no connection to ", peer_.route->DialledName(), " within ",
                     absl::FormatDuration(request_.connect_timeout))));
  }
  return absl::DeadlineExceededError(
      absl::StrCat("no answer within ", absl::FormatDuration(request_.head_timeout)));
}

bool ForwardCall::MayBeStale() const { return kept_ && (IsRead(request_.method) || !sent_); }

bool ForwardCall::IsStale() const {
  const bool unanswered = phase_ == Phase::kWriting || phase_ == Phase::kHead;
  return unanswered && !parser_->started() && MayBeStale();
}

void ForwardCall::DropText() {
  std::string().swap(text_);  // An assignment would keep the memory.
  request_.body_share = nullptr;
}

void ForwardCall::Fail(Reactor& reactor, absl::Status status) {
  if (!IsStale()) return End(reactor, status);
  const auto self = shared_from_this();
  reactor.Remove(this);  // Before its socket is closed.
  deadline_ = SteadyNow() + request_.connect_timeout;
  reactor.SetTimer(self, deadline_);
  // The last attempt takes a new connection, which cannot be stale.
  Attempt(reactor, /*with_kept=*/++resends_ < kMaxResends);
}

void ForwardCall::GiveBackConnection(bool whole) {
  const bool reusable =
      whole && phase_ == Phase::kBody && sent_ && parser_->done() && parser_->keeps_connection();
  if (reusable) return peer_.pool->Keep(std::move(connection_));
  connection_ = nullptr;
}

// Leaves the reactor and returns the callbacks; nothing is delivered any more.
ForwardCallbacks ForwardCall::Release(Reactor& reactor) {
  reactor.Remove(this);
  phase_ = Phase::kOver;
  connection_ = nullptr;
  DropText();
  stop_.request_stop();
  std::function<void()> room;
  {
    absl::MutexLock lock(&mu_);
    over_ = true;
    std::string().swap(outbox_);
    room = std::exchange(on_room_, nullptr);
  }
  // It is called without the lock: a callback may call this object.
  if (room) room();
  return std::exchange(callbacks_, {});
}

void ForwardCall::End(Reactor& reactor, const absl::Status& status) {
  const auto self = shared_from_this();
  reactor.Remove(this);  // Before its socket is given away or closed.
  GiveBackConnection(status.ok());
  const ForwardCallbacks callbacks = Release(reactor);
  callbacks.on_end(base::Annotate(status, server_->url()));
}

void ForwardCall::EndForBacklog(Reactor& reactor) {
  if (phase_ == Phase::kOver) return;
  End(reactor, absl::ResourceExhaustedError("the server does not read what is sent to it"));
}

void ForwardCall::Drop(Reactor& reactor) {
  if (phase_ != Phase::kOver) Release(reactor);
}

}  // namespace kube
