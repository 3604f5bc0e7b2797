// A connection is in one of five states. Reading: received bytes go to the parser until a request
// is complete; before the parser sees a head, FlawOf() may refuse it, and between head and body
// AcceptHead may, or have it reviewed, for which reading pauses. Answering: the handler has the
// request, and the answer that exchange_ collects is written (Pump, in http_connection_output.cc);
// bytes that the peer sends meanwhile wait in buffer_, up to 64 KiB, for the next request. Tunnel:
// the answer was an upgrade, and these bytes go to its reader, who asks for each block; what it has
// not taken is counted with what peers have not taken, and has a deadline of its own. Refused: an
// error answer is queued, further bytes are discarded, and Lingering follows. Lingering: the last
// answer has been sent and our direction is shut down; the connection closes when the peer does, or
// after two seconds. An answer leads to Reading again if it keeps the connection alive, else to
// Lingering; a tunnel that has ended, to Lingering.
//
// A server that drains closes connections that are reading and have nothing yet; the others keep
// alive no more.
//
// At most one read and one write are pending. Waiting for a request, receiving it and reading the
// end of an answer have a deadline each, the handler's work has none; the server's sweep cuts
// connections that are overdue (IsOverdue). Everything else runs on the connection's strand.

#include "base/internal/http_connection.h"

#include <algorithm>
#include <boost/asio/buffer.hpp>
#include <boost/asio/error.hpp>
#include <boost/beast/http/error.hpp>
#include <chrono>
#include <utility>

#include "absl/strings/ascii.h"
#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "base/internal/http_head_check.h"
#include "base/random.h"

namespace base::internal {
namespace {

namespace http = boost::beast::http;

constexpr size_t kHeadReadBytes = 4 << 10;  // Small because most connections are idle watches.
constexpr size_t kBodyReadBytes = 32 << 10;
// Limits what a client may send ahead while its request is being answered, and in a tunnel, where
// one read may go beyond it.
constexpr size_t kMaxPipelinedBytes = 8 << 10;
constexpr size_t kMaxTunnelBytes = 32 << 10;
// Up to this length a head that is not complete is not counted: an idle connection takes as much.
constexpr size_t kFreeHeadBytes = 4 << 10;

int64_t SteadyNanos() { return std::chrono::steady_clock::now().time_since_epoch().count(); }

int64_t NanosIn(absl::Duration from_now) {
  // Capped, so that an infinite duration does not overflow.
  return SteadyNanos() + absl::ToInt64Nanoseconds(std::min(from_now, absl::Hours(24 * 365)));
}

absl::string_view View(boost::beast::string_view text) { return {text.data(), text.size()}; }

// Returns whether the buffer begins with a line break. Some clients send one after the body of a
// request; no request begins with one.
bool IsLineBreak(const boost::beast::flat_buffer& buffer) {
  const char first = *static_cast<const char*>(buffer.data().data());
  return first == '\r' || first == '\n';
}

// Returns whether the parser knows the encoding of the body. It would take a body in another
// encoding for the next request.
bool HasKnownEncoding(const http::request<http::string_body>& message) {
  const size_t count = message.count(http::field::transfer_encoding);
  return count == 0 ||
         (count == 1 &&
          absl::EqualsIgnoreCase(View(message[http::field::transfer_encoding]), "chunked"));
}

}  // namespace

HttpConnection::HttpConnection(const ConnectionContext& context)
    : context_(context),
      started_nanos_(SteadyNanos()),
      turn_began_nanos_(started_nanos_),
      head_account_([this] { CutSoon(); }) {}

HttpConnection::~HttpConnection() { context_.heads.End(head_account_); }

bool operator<(const HttpConnection& a, const HttpConnection& b) {
  const bool a_answers = a.answering_;
  const bool b_answers = b.answering_;
  return a_answers == b_answers ? a.turn_began_nanos_ < b.turn_began_nanos_ : b_answers;
}

void HttpConnection::BeginTurn(bool answering) {
  answering_ = answering;
  turn_began_nanos_ = SteadyNanos();
}

void HttpConnection::Cut() {
  Post([self = shared_from_this()] { self->Close(); });
}

void HttpConnection::CloseIfIdle() {
  Post([self = shared_from_this()] {
    const bool idle = !self->exchange_ && !self->refused_ && !self->lingering_ && self->parser_ &&
                      !self->parser_->got_some() && self->buffer_.size() == 0;
    if (idle) self->Close();
  });
}

bool HttpConnection::IsOverdue() const { return SteadyNanos() > deadline_nanos_.load(); }

void HttpConnection::SetDeadline(absl::Duration from_now) { deadline_nanos_ = NanosIn(from_now); }

void HttpConnection::ClearDeadline() { deadline_nanos_ = INT64_MAX; }

void HttpConnection::LimitRequestTime() { SetDeadline(context_.options.request_timeout); }

void HttpConnection::OnReady() {
  context_.table.NoteReady(this);
  peer_ = Peer();
  if (context_.draining) return Close();
  NextRequest(std::min(context_.options.first_request_timeout, context_.options.idle_timeout));
}

void HttpConnection::NextRequest(absl::Duration timeout) {
  request_.reset();
  head_checked_ = false;
  parser_.emplace();
  parser_->header_limit(static_cast<uint32_t>(context_.options.max_header_bytes));
  parser_->body_limit(context_.options.max_body_bytes);
  continued_ = false;
  SetDeadline(timeout);
  if (buffer_.size() == 0) return peer_ended_ ? Linger() : ReadMore();
  LimitRequestTime();
  Parse();
}

void HttpConnection::ReadMore() {
  if (read_pending_ || closed_ || peer_ended_) return;
  read_pending_ = true;
  const bool in_body = parser_ && parser_->is_header_done() && !parser_->is_done();
  // A tunnel that is quiet keeps no more than a connection that waits.
  const bool much = in_body || (tunnelling_ && last_read_ >= kHeadReadBytes);
  const size_t wanted = much ? kBodyReadBytes : kHeadReadBytes;
  if (incoming_.size() != wanted) std::vector<char>(wanted).swap(incoming_);
  Read(boost::asio::buffer(incoming_));
}

void HttpConnection::OnRead(const ErrorCode& error, size_t count) {
  read_pending_ = false;
  last_read_ = count;
  if (closed_) return;
  if (error == boost::asio::error::eof) return OnEnd();
  if (error) return Close();
  if (lingering_ || refused_) return ReadMore();  // The bytes are discarded.
  const bool first_bytes = !exchange_ && buffer_.size() == 0 && !parser_->got_some();
  if (body_place_ != nullptr) body_place_->NoteReceived(count);
  buffer_.commit(boost::asio::buffer_copy(buffer_.prepare(count), boost::asio::buffer(incoming_)));
  if (exchange_) {
    if (tunnelling_) return DeliverIncoming();
    if (buffer_.size() < kMaxPipelinedBytes) ReadMore();
    return;
  }
  if (reviewing_) return;  // They wait for OnReviewed, and no more are read until then.
  if (first_bytes) LimitRequestTime();
  Parse();
}

// The peer sends no more. It may only have closed its own direction, so its pending requests are
// still answered. A stream ends; a tunnel goes on in the other direction.
void HttpConnection::OnEnd() {
  peer_ended_ = true;
  if (lingering_ || !(exchange_ || refused_ || write_pending_ || reviewing_)) return Close();
  if (deadline_nanos_ == INT64_MAX && !tunnelling_) SetDeadline(context_.options.idle_timeout);
  if (exchange_) exchange_->ReportPeerEnd();
  Pump();
}

// Hands what has come to the reader of the tunnel, as long as it asks for it, and reads ahead.
void HttpConnection::DeliverIncoming() {
  const std::shared_ptr<Exchange> exchange = exchange_;
  while (exchange->wants_bytes() && (buffer_.size() > 0 || peer_ended_)) {
    if (buffer_.size() == 0) {
      input_ended_ = true;
      exchange->DeliverEnd();
      return output_ended_ ? EndExchange() : CountTunnelInput();
    }
    std::string bytes(static_cast<const char*>(buffer_.data().data()), buffer_.size());
    buffer_.consume(bytes.size());
    exchange->Deliver(std::move(bytes));
  }
  if (buffer_.size() < kMaxTunnelBytes) ReadMore();
  CountTunnelInput();
}

// Counts what waits for the reader of the tunnel, and gives back memory that nothing is in. The
// reader may take its time: a program in a pod need not read what it is sent, and loses its session
// only when all that waits is too much.
void HttpConnection::CountTunnelInput() {
  if (buffer_.size() == 0) buffer_.shrink_to_fit();
  if (!read_pending_) std::vector<char>().swap(incoming_);
  exchange_->CountInput(buffer_.capacity());
}

void HttpConnection::Parse() {
  while (buffer_.size() > 0 && !parser_->got_some() && IsLineBreak(buffer_)) buffer_.consume(1);
  if (!Feed()) return;
  CountHead();
  if (parser_->is_done()) return Dispatch();
  if (peer_ended_) return Close();  // The request stays incomplete.
  if (IsOversized()) return Refuse(http::error::header_limit);
  ContinueIfExpected();
  ReadMore();
}

void HttpConnection::CountHead() {
  const size_t bytes = parser_->is_header_done() ? 0 : parsed_head_.size() + buffer_.size();
  context_.heads.Set(head_account_, bytes > kFreeHeadBytes ? bytes : 0, /*progress=*/false);
}

// Looks at a head once, as soon as it is complete, before the parser takes the rest of it; returns
// false when the request was refused.
bool HttpConnection::CheckHead() {
  if (head_checked_) return true;
  const absl::string_view come(static_cast<const char*>(buffer_.data().data()), buffer_.size());
  const std::string joined = parsed_head_.empty() ? "" : absl::StrCat(parsed_head_, come);
  const absl::string_view head = parsed_head_.empty() ? come : joined;
  constexpr absl::string_view kEnd = "\r\n\r\n";
  const size_t end = head.find(kEnd);
  if (end == absl::string_view::npos) return true;
  head_checked_ = true;
  const absl::string_view flaw = FlawOf(head.substr(0, end + kEnd.size()));
  if (!flaw.empty()) Refuse(MalformedRequest(flaw));
  std::string().swap(parsed_head_);
  return flaw.empty();
}

// Gives the parser all bytes that have come; returns false when the request was refused.
bool HttpConnection::Feed() {
  if (!CheckHead()) return false;
  while (buffer_.size() > 0 && !parser_->is_done()) {
    ErrorCode error;
    const size_t used = parser_->put(buffer_.data(), error);
    if (!head_checked_) parsed_head_.append(static_cast<const char*>(buffer_.data().data()), used);
    buffer_.consume(used);
    if (error == http::error::need_more) return true;
    if (error) {
      Refuse(error);
      return false;
    }
    if (!request_ && parser_->is_header_done() && !AcceptHead()) return false;
  }
  return true;
}

// Is called once per request, between head and body; returns false when the request was refused, or
// waits for its review.
bool HttpConnection::AcceptHead() {
  context_.heads.Set(head_account_, 0, /*progress=*/true);  // It is complete.
  if (!HasKnownEncoding(parser_->get())) {
    Refuse({501, "text/plain", {}, "unsupported transfer encoding\n"});
    return false;
  }
  request_ = ReadHead();
  if (absl::StrContains(request_->path, '\0')) {
    Refuse(MalformedRequest("the path contains a NUL"));
    return false;
  }
  parser_->eager(true);  // From now on the parser also reads the body.
  if (parser_->is_done()) return true;
  std::optional<HttpResponse> refusal;
  if (context_.options.check_head) refusal = context_.options.check_head(*request_);
  if (refusal) {
    Refuse(*refusal);
    return false;
  }
  if (ReviewHead()) return false;
  if (TakeBodyShare({})) return true;
  Refuse(context_.options.too_many_bodies());
  return false;
}

bool HttpConnection::TakeBodyShare(const HttpHeadVerdict& verdict) {
  const HttpServerOptions& options = context_.options;
  const auto length = parser_->content_length();
  const size_t bytes =
      length ? static_cast<size_t>(std::min<uint64_t>(*length, options.max_body_bytes))
             : options.max_body_bytes;
  if (bytes <= options.max_short_body_bytes) return true;
  body_place_ = context_.bodies.Take({.bytes = bytes,
                                      .owner = verdict.owner,
                                      .privileged = verdict.privileged,
                                      .cut = [weak = weak_from_this(), body = ++bodies_] {
                                        const auto self = weak.lock();
                                        if (self == nullptr) return;
                                        self->Post([self, body] { self->LoseBodyShare(body); });
                                      }});
  request_->body_share = body_place_;
  return body_place_ != nullptr;
}

// The body may have come since the place was given away, and the next one be under way.
void HttpConnection::LoseBodyShare(uint64_t body) {
  if (closed_ || refused_ || body_place_ == nullptr || body != bodies_) return;
  parser_.reset();  // What has come of the body.
  Refuse(context_.options.too_many_bodies());
}

// Returns whether there is a review. During one nothing is parsed until OnReviewed, and no read
// begins; one may be under way, which began while the request before was being answered.
bool HttpConnection::ReviewHead() {
  if (!context_.options.review_head) return false;
  const auto done = [threads = context_.threads,
                     weak = weak_from_this()](const HttpHeadVerdict& verdict) {
    threads->Run([weak, verdict] {
      const auto self = weak.lock();
      if (self == nullptr) return;
      self->Post([self, verdict] { self->OnReviewed(verdict); });
    });
  };
  reviewing_ = context_.options.review_head(*request_, done);
  return reviewing_;
}

void HttpConnection::OnReviewed(const HttpHeadVerdict& verdict) {
  reviewing_ = false;
  if (closed_ || refused_) return;
  if (verdict.refusal) return Refuse(*verdict.refusal);
  if (!TakeBodyShare(verdict)) return Refuse(context_.options.too_many_bodies());
  Parse();
}

// Returns whether too many bytes wait for the parser to find an end, such as that of a trailer; the
// parser itself limits only the header.
bool HttpConnection::IsOversized() const {
  return buffer_.size() > context_.options.max_header_bytes;
}

void HttpConnection::ContinueIfExpected() {
  if (continued_ || !parser_->is_header_done()) return;
  continued_ = true;
  if (parser_->get().version() < 11) return;  // HTTP/1.0 has no interim answers.
  const auto expect = View(parser_->get()[http::field::expect]);
  if (absl::EqualsIgnoreCase(expect, "100-continue")) Queue("HTTP/1.1 100 Continue\r\n\r\n");
}

void HttpConnection::Dispatch() {
  const auto& message = parser_->get();
  const HttpServerOptions& options = context_.options;
  const ResponseRules rules = {.http10 = message.version() < 11,
                               .keep_alive = message.keep_alive() && StaysOpen(),
                               .head = message.method() == http::verb::head};
  exchange_ = std::make_shared<Exchange>(
      Exchange::Options{rules, options.max_stream_backlog_bytes, options.stream_window_bytes,
                        context_.threads, context_.outputs},
      *this);
  deadline_nanos_ = INT64_MAX;  // There is no limit while the handler works.
  BeginTurn(/*answering=*/true);
  if (body_place_ != nullptr) std::exchange(body_place_, nullptr)->NoteComplete();
  HttpRequest request = *std::exchange(request_, std::nullopt);
  request.body = std::move(parser_->get().body());
  parser_.reset();
  ReadMore();
  context_.handler(std::move(request), NewResponder(exchange_));
  Pump();
}

// Returns whether the connection may serve another request after the one that has come.
bool HttpConnection::StaysOpen() {
  const HttpServerOptions& options = context_.options;
  if (++requests_ >= options.max_requests_per_connection || context_.draining) return false;
  if (absl::Nanoseconds(SteadyNanos() - started_nanos_) >= options.max_connection_age) return false;
  return options.close_chance <= 0 || RandomUnit() >= options.close_chance;
}

HttpRequest HttpConnection::ReadHead() const {
  const auto& message = parser_->get();
  HttpRequest request;
  request.method = std::string(View(message.method_string()));
  request.target = std::string(View(message.target()));
  for (const auto& field : message) {
    std::string& value = request.headers[absl::AsciiStrToLower(View(field.name_string()))];
    absl::StrAppend(&value, value.empty() ? "" : ", ", View(field.value()));
    request.fields.emplace_back(View(field.name_string()), View(field.value()));
  }
  request.peer = peer_.identity;
  request.peer_certificates = peer_.certificates;
  request.remote_address = peer_.address;
  request.secure = peer_.secure;
  request.http10 = message.version() < 11;
  ParseTarget(request);
  return request;
}

}  // namespace base::internal
