// The answering half of a connection: see http_connection.cc.

#include <boost/asio/error.hpp>
#include <boost/beast/http/error.hpp>
#include <utility>

#include "absl/strings/str_cat.h"
#include "base/internal/http_connection.h"

namespace base::internal {
namespace {

namespace http = boost::beast::http;

// How long the peer of a closed connection may take to read the last answer and to close as well.
constexpr absl::Duration kLinger = absl::Seconds(2);

// Returns the answer to a request that could not be read.
HttpResponse AnswerTo(const boost::system::error_code& error, const HttpServerOptions& options) {
  if (error == http::error::header_limit)
    return {431, "text/plain", {}, "request header too large\n"};
  if (error == http::error::body_limit) return options.body_too_long;
  return {400, "text/plain", {}, absl::StrCat("malformed request: ", error.message(), "\n")};
}

}  // namespace

void HttpConnection::Refuse(const ErrorCode& error) { Refuse(AnswerTo(error, context_.options)); }

HttpResponse HttpConnection::MalformedRequest(absl::string_view why) {
  return {400, "text/plain", {}, absl::StrCat("malformed request: ", why, "\n")};
}

void HttpConnection::Refuse(const HttpResponse& answer) {
  refused_ = true;
  body_place_ = nullptr;
  if (request_) request_->body_share = nullptr;
  Queue(FormatHead(answer, {.keep_alive = false}, Framing::kLength) + answer.body);
  ReadMore();
}

void HttpConnection::Queue(absl::string_view bytes) {
  queued_.append(bytes.data(), bytes.size());
  Pump();
}

void HttpConnection::Wake() {
  // Null while the connection is being destroyed.
  if (auto self = weak_from_this().lock()) {
    Post([self] { self->Pump(); });
  }
}

void HttpConnection::CutSoon() {
  // Null while the connection is being destroyed.
  if (auto self = weak_from_this().lock()) self->Cut();
}

// Acts on what the handler did, then writes the next bytes unless a write is pending.
void HttpConnection::Pump() {
  if (exchange_) WatchExchange();
  if (!closed_ && !write_pending_ && !lingering_) WriteNext();
  // Held, because the callback may end the exchange.
  if (const std::shared_ptr<Exchange> exchange = exchange_) exchange->ReportRoom();
}

void HttpConnection::WriteNext() {
  if (!queued_.empty()) {
    writing_ = {.copied = std::exchange(queued_, {})};
    write_pending_ = true;
    return Write(writing_.bytes());
  }
  if (refused_) return Linger();
  if (exchange_) return PumpExchange();
  if (peer_ended_ && !reviewing_) Close();
}

// Acts on what the handler did, even while a write is stuck because the peer does not read.
void HttpConnection::WatchExchange() {
  const Exchange::Progress progress = exchange_->progress();
  if (progress == Exchange::Progress::kAborted) return Close();
  if (progress == Exchange::Progress::kStreaming && peer_ended_) return Close();
  if (progress == Exchange::Progress::kTunnel) return WatchTunnel();
  // A peer may read a stream slowly, but has to read the end of an answer in time.
  if (progress == Exchange::Progress::kFinished && deadline_nanos_ == INT64_MAX) {
    SetDeadline(context_.options.idle_timeout);
  }
}

void HttpConnection::WatchTunnel() {
  if (!std::exchange(tunnelling_, true)) ClearDeadline();
  DeliverIncoming();
}

void HttpConnection::PumpExchange() {
  Exchange::Output output = exchange_->Take();
  if (output.block.bytes().empty()) {
    if (!output.finished) return;
    const bool half = exchange_->progress() == Exchange::Progress::kTunnel;
    return half ? EndTunnelOutput() : EndExchange();
  }
  writing_ = std::move(output.block);
  write_pending_ = true;
  LimitWriteTime();
  Write(writing_.bytes());
}

// A stream may be quiet, but its peer has to take what is sent. The end of an answer has to be
// taken in time, block by block.
void HttpConnection::LimitWriteTime() {
  const Exchange::Progress progress = exchange_->progress();
  if (progress == Exchange::Progress::kFinished) return SetDeadline(context_.options.idle_timeout);
  if (context_.options.stall_timeout < absl::InfiniteDuration()) {
    SetDeadline(context_.options.stall_timeout);
  }
}

// Everything that the tunnel's writer had to say has been written.
void HttpConnection::EndTunnelOutput() {
  if (std::exchange(output_ended_, true)) return;
  if (!CanHalfClose() || input_ended_) return EndExchange();
  SendEnd();
}

void HttpConnection::OnWritten(const ErrorCode& error) {
  write_pending_ = false;
  if (closed_) return;
  if (error) return Close();
  std::exchange(writing_, {});  // An assignment would keep the memory of the text.
  if (exchange_ != nullptr) {
    const Exchange::Progress progress = exchange_->progress();
    const bool open =
        progress == Exchange::Progress::kStreaming || progress == Exchange::Progress::kTunnel;
    if (open) ClearDeadline();
  }
  Pump();
}

void HttpConnection::EndExchange() {
  const bool keep_alive = exchange_->keep_alive() && !context_.draining;
  std::exchange(exchange_, nullptr)->Detach();
  if (closed_) return;
  BeginTurn(/*answering=*/false);
  if (!keep_alive) return Linger();
  NextRequest(context_.options.idle_timeout);
}

// Waits for the peer to close: closing at once while the peer still sends would reset the
// connection and could lose the answer.
void HttpConnection::Linger() {
  lingering_ = true;
  SetDeadline(kLinger);
  SendEnd();
  if (peer_ended_) return Close();
  ReadMore();
}

void HttpConnection::Close() {
  if (std::exchange(closed_, true)) return;
  CloseSocket();
  if (exchange_) std::exchange(exchange_, nullptr)->Detach();
  context_.heads.End(head_account_);
  context_.table.Remove(this);
}

}  // namespace base::internal
