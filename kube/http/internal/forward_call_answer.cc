// The second half of a forwarded request: its answer, or the bytes of an upgraded connection. See
// forward_call.cc.

#include <poll.h>

#include <utility>

#include "absl/strings/match.h"
#include "absl/strings/numbers.h"
#include "absl/strings/str_cat.h"
#include "base/status.h"
#include "kube/http/internal/forward_call.h"

namespace kube {
namespace {

constexpr size_t kBlock = 64 << 10;
// How many blocks are handed over before other calls have their turn.
constexpr int kBlocksPerTurn = 16;
// What may wait to be written to an upgraded connection; then the call ends.
constexpr size_t kMaxBacklog = 64 << 20;

absl::string_view Find(const HeaderFields& fields, absl::string_view name) {
  for (const auto& [field, value] : fields) {
    if (absl::EqualsIgnoreCase(field, name)) return value;
  }
  return "";
}

ForwardHead HeadOf(int code, const HeaderFields& fields) {
  ForwardHead head{.code = code, .headers = EndToEndHeaders(fields), .upgraded = code == 101};
  if (head.upgraded) head.headers.emplace_back("Upgrade", Find(fields, "upgrade"));
  uint64_t length = 0;
  const bool whole = Find(fields, "transfer-encoding").empty();
  if (whole && absl::SimpleAtoi(Find(fields, "content-length"), &length)) {
    head.content_length = length;
  }
  return head;
}

}  // namespace

absl::Status ForwardCall::ReadOn(Reactor& reactor) {
  for (int blocks = 0; Deliver(); ++blocks) {
    if (complete_ || phase_ == Phase::kOver) return absl::OkStatus();
    if (phase_ != Phase::kHead && !wants_) return absl::OkStatus();
    if (blocks == kBlocksPerTurn) {
      // Called for, because the reactor does not see bytes that wait inside a TLS layer.
      Post(&ForwardCall::Advance);
      return absl::OkStatus();
    }
    ASSIGN_OR_RETURN(const bool any, ReadBlock(reactor));
    if (!any) return absl::OkStatus();
  }
  return absl::OkStatus();
}

absl::StatusOr<bool> ForwardCall::ReadBlock(Reactor& reactor) {
  const absl::Span<char> scratch = reactor.scratch();
  do {
    const IoResult result = connection_->Read(scratch.data(), scratch.size());
    read_wants_ = WantOf(result);
    if (result.state == IoState::kWantRead || result.state == IoState::kWantWrite) {
      return !pending_.empty();
    }
    RETURN_IF_ERROR(result.state == IoState::kDone
                        ? Take(absl::string_view(scratch.data(), result.bytes))
                        : TakeEnd(result));
  } while (!complete_ && pending_.size() < kBlock && connection_->has_pending());
  return true;
}

absl::Status ForwardCall::Take(absl::string_view bytes) {
  if (phase_ == Phase::kTunnel) {
    pending_.append(bytes.data(), bytes.size());
    return absl::OkStatus();
  }
  RETURN_IF_ERROR(parser_->Feed(bytes));
  if (!parser_->done()) return absl::OkStatus();
  if (phase_ == Phase::kTunnel) {
    // The server may have sent bytes of the tunnel right behind the head.
    pending_ = std::move(parser_->rest());
  } else {
    complete_ = true;
  }
  return absl::OkStatus();
}

absl::Status ForwardCall::TakeEnd(const IoResult& result) {
  const bool properly = result.state == IoState::kEnd;
  // A body without a length ends with the connection.
  if (phase_ == Phase::kTunnel ? properly : parser_->End(properly).ok()) {
    complete_ = true;
    return absl::OkStatus();
  }
  if (phase_ == Phase::kHead && !parser_->started() && !write_error_.ok()) return write_error_;
  const absl::string_view where = phase_ == Phase::kTunnel ? "the upgraded connection broke: "
                                  : parser_->started()
                                      ? "the connection broke inside the answer: "
                                      : "the connection broke before an answer came: ";
  return absl::UnavailableError(absl::StrCat(where, Why(result)));
}

void ForwardCall::TakeHead(const HttpResponse& head) {
  // The next request loads them again; this answer is the caller's.
  if (head.code == 401) server_->credentials().Reject(credentials_);
  phase_ = head.code == 101 ? Phase::kTunnel : Phase::kBody;
  DropText();
  calling_ = true;
  callbacks_.on_head(shared_from_this(), HeadOf(head.code, std::exchange(fields_, {})));
  calling_ = false;
}

bool ForwardCall::Deliver() {
  if (pending_.empty()) return true;
  // Bytes of the body wait until the reader asks for them.
  if (phase_ == Phase::kHead || !wants_.exchange(false)) return false;
  calling_ = true;
  callbacks_.on_data(shared_from_this(), std::exchange(pending_, {}));
  calling_ = false;
  return true;
}

// Takes over what has been queued; returns whether there is anything to write.
bool ForwardCall::NextBlock() {
  if (tunnel_written_ < writing_.size()) return true;
  absl::MutexLock lock(&mu_);
  // An assignment of an empty text would keep the memory.
  std::string().swap(writing_);
  writing_.swap(outbox_);
  tunnel_written_ = 0;
  // As long as it is set, Write need not wake the loop.
  flushing_ = !writing_.empty();
  return flushing_;
}

absl::Status ForwardCall::WriteTunnel() {
  while (NextBlock()) {
    const IoResult result = connection_->Write(absl::string_view(writing_).substr(tunnel_written_));
    write_wants_ = WantOf(result);
    if (result.state == IoState::kWantRead || result.state == IoState::kWantWrite) break;
    if (result.state != IoState::kDone) {
      return absl::UnavailableError(absl::StrCat("the upgraded connection broke: ", Why(result)));
    }
    tunnel_written_ += result.bytes;
    absl::MutexLock lock(&mu_);
    // It counts both what is being written and what waits in outbox_.
    backlog_ -= result.bytes;
  }
  ReportRoom();
  return absl::OkStatus();
}

bool ForwardCall::HasWrittenAll() const {
  absl::MutexLock lock(&mu_);
  return ending_ && backlog_ == 0;
}

void ForwardCall::ReportRoom() {
  std::function<void()> callback;
  {
    absl::MutexLock lock(&mu_);
    if (backlog_ > 0) return;
    callback = std::exchange(on_room_, nullptr);
  }
  if (callback) callback();
}

void ForwardCall::Read() {
  if (wants_.exchange(true)) return;
  // A reader that asks inside of its callback is served when that returns: ReadOn looks at wants_
  // again.
  const bool inside = server_->loop()->OnThread() && calling_;
  if (!inside) Post(&ForwardCall::Advance);
}

void ForwardCall::Cancel() { Post(&ForwardCall::Drop); }

bool ForwardCall::Write(std::string bytes) {
  absl::MutexLock lock(&mu_);
  if (over_ || ending_) return false;
  // The writer does not heed HasRoom, or the server does not read.
  if (backlog_ + bytes.size() > kMaxBacklog) {
    Post(&ForwardCall::EndForBacklog);
    return false;
  }
  backlog_ += bytes.size();
  outbox_.empty() ? outbox_.swap(bytes) : void(outbox_ += bytes);
  if (!std::exchange(flushing_, true)) Post(&ForwardCall::Advance);
  return true;
}

bool ForwardCall::HasRoom() const {
  absl::MutexLock lock(&mu_);
  return !over_ && backlog_ == 0;
}

void ForwardCall::OnRoom(std::function<void()> callback) {
  std::function<void()> replaced;
  absl::MutexLock lock(&mu_);
  if (over_) return;
  replaced = std::exchange(on_room_, std::move(callback));
  if (backlog_ == 0) Post(&ForwardCall::ReportRoomNow);
}

void ForwardCall::ReportRoomNow(Reactor&) { ReportRoom(); }

void ForwardCall::EndWriting() {
  {
    absl::MutexLock lock(&mu_);
    ending_ = true;
  }
  Post(&ForwardCall::Advance);
}

}  // namespace kube
