// A connection is in one of four states. Reading: received bytes go to the parser until a request
// is complete; between head and body AcceptHead may refuse it. Answering: the handler has the
// request, and the answer that exchange_ collects is written (Pump); bytes that the peer sends
// meanwhile wait in buffer_, up to 64 KiB, for the next request. Refused: an error answer is
// queued, further bytes are discarded, and Lingering follows. Lingering: the last answer has been
// sent and our direction is shut down; the connection closes when the peer does, or after two
// seconds. An answer leads to Reading again if it keeps the connection alive, else to Lingering.
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

namespace base::internal {
namespace {

namespace http = boost::beast::http;

constexpr size_t kHeadReadBytes = 4 << 10;  // Small because most connections are idle watches.
constexpr size_t kBodyReadBytes = 32 << 10;
// Limits what a client may send ahead while its request is being answered.
constexpr size_t kMaxPipelinedBytes = 64 << 10;
// A larger buffer is not kept for the next write.
constexpr size_t kKeptBufferBytes = 16 << 10;
// How long the peer of a closed connection may take to read the last answer and to close as well.
constexpr absl::Duration kLinger = absl::Seconds(2);

int64_t SteadyNanos() { return std::chrono::steady_clock::now().time_since_epoch().count(); }

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

// Returns the answer to a request that could not be read.
HttpResponse AnswerTo(const boost::system::error_code& error, const HttpServerOptions& options) {
  if (error == http::error::header_limit)
    return {431, "text/plain", {}, "request header too large\n"};
  if (error == http::error::body_limit) return options.body_too_long;
  return {400, "text/plain", {}, absl::StrCat("malformed request: ", error.message(), "\n")};
}

}  // namespace

bool ConnectionTable::Add(std::shared_ptr<HttpConnection> connection) {
  std::shared_ptr<HttpConnection> replaced;
  {
    absl::MutexLock lock(&mu_);
    if (sealed_) return false;
    if (open_.size() >= max_) replaced = TakeLongestWaiting();
    const HttpConnection* key = connection.get();
    open_.emplace(key, std::move(connection));
  }
  if (replaced != nullptr) replaced->Cut();
  return true;
}

std::shared_ptr<HttpConnection> ConnectionTable::TakeLongestWaiting() {
  const auto longest =
      std::min_element(open_.begin(), open_.end(),
                       [](const auto& a, const auto& b) { return *a.second < *b.second; });
  return std::move(open_.extract(longest).mapped());
}

void ConnectionTable::Remove(const HttpConnection* connection) {
  // Declared before the lock, because it may be the last reference.
  std::shared_ptr<HttpConnection> last;
  absl::MutexLock lock(&mu_);
  const auto open = open_.find(connection);
  if (open != open_.end()) last = std::move(open_.extract(open).mapped());
}

std::vector<std::shared_ptr<HttpConnection>> ConnectionTable::All() const {
  std::vector<std::shared_ptr<HttpConnection>> all;
  absl::MutexLock lock(&mu_);
  all.reserve(open_.size());
  for (const auto& [key, connection] : open_) all.push_back(connection);
  return all;
}

void ConnectionTable::Seal() {
  absl::MutexLock lock(&mu_);
  sealed_ = true;
}

HttpConnection::HttpConnection(const ConnectionContext& context)
    : context_(context), turn_began_nanos_(SteadyNanos()) {}

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

bool HttpConnection::IsOverdue() const { return SteadyNanos() > deadline_nanos_.load(); }

void HttpConnection::SetDeadline(absl::Duration from_now) {
  // Capped, so that an infinite duration does not overflow.
  const absl::Duration capped = std::min(from_now, absl::Hours(24 * 365));
  deadline_nanos_ = SteadyNanos() + absl::ToInt64Nanoseconds(capped);
}

void HttpConnection::LimitRequestTime() { SetDeadline(context_.options.request_timeout); }

void HttpConnection::OnReady() {
  peer_ = Peer();
  NextRequest(std::min(context_.options.first_request_timeout, context_.options.idle_timeout));
}

void HttpConnection::NextRequest(absl::Duration timeout) {
  request_.reset();
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
  incoming_.resize(in_body ? kBodyReadBytes : kHeadReadBytes);
  Read(boost::asio::buffer(incoming_));
}

void HttpConnection::OnRead(const ErrorCode& error, size_t count) {
  read_pending_ = false;
  if (closed_) return;
  if (error == boost::asio::error::eof) return OnEnd();
  if (error) return Close();
  if (lingering_ || refused_) return ReadMore();  // The bytes are discarded.
  const bool first_bytes = !exchange_ && buffer_.size() == 0 && !parser_->got_some();
  buffer_.commit(boost::asio::buffer_copy(buffer_.prepare(count), boost::asio::buffer(incoming_)));
  if (exchange_) {
    if (buffer_.size() < kMaxPipelinedBytes) ReadMore();
    return;
  }
  if (first_bytes) LimitRequestTime();
  Parse();
}

// The peer sends no more. It may only have closed its own direction, so its pending requests are
// still answered. A stream ends.
void HttpConnection::OnEnd() {
  peer_ended_ = true;
  if (lingering_ || !(exchange_ || refused_ || write_pending_)) return Close();
  if (deadline_nanos_ == INT64_MAX) SetDeadline(context_.options.idle_timeout);
  Pump();
}

void HttpConnection::Parse() {
  while (buffer_.size() > 0 && !parser_->got_some() && IsLineBreak(buffer_)) buffer_.consume(1);
  if (!Feed()) return;
  if (parser_->is_done()) return Dispatch();
  if (peer_ended_) return Close();  // The request stays incomplete.
  if (IsOversized()) return Refuse(http::error::header_limit);
  ContinueIfExpected();
  ReadMore();
}

// Gives the parser all bytes that have come; returns false when the request was refused.
bool HttpConnection::Feed() {
  while (buffer_.size() > 0 && !parser_->is_done()) {
    ErrorCode error;
    const size_t used = parser_->put(buffer_.data(), error);
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

// Is called once per request, between head and body; returns false when the request was refused.
bool HttpConnection::AcceptHead() {
  if (!HasKnownEncoding(parser_->get())) {
    Refuse({501, "text/plain", {}, "unsupported transfer encoding\n"});
    return false;
  }
  request_ = ReadHead();
  parser_->eager(true);  // From now on the parser also reads the body.
  if (parser_->is_done() || !context_.options.check_head) return true;
  const std::optional<HttpResponse> refusal = context_.options.check_head(*request_);
  if (refusal) Refuse(*refusal);
  return !refusal;
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
  const ResponseRules rules = {.http10 = message.version() < 11,
                               .keep_alive = message.keep_alive(),
                               .head = message.method() == http::verb::head};
  exchange_ = std::make_shared<Exchange>(
      Exchange::Options{rules, context_.options.max_stream_backlog_bytes, context_.threads}, *this);
  deadline_nanos_ = INT64_MAX;  // There is no limit while the handler works.
  BeginTurn(/*answering=*/true);
  HttpRequest request = *std::exchange(request_, std::nullopt);
  request.body = std::move(parser_->get().body());
  parser_.reset();
  ReadMore();
  context_.handler(std::move(request), NewResponder(exchange_));
  Pump();
}

HttpRequest HttpConnection::ReadHead() const {
  const auto& message = parser_->get();
  HttpRequest request;
  request.method = std::string(View(message.method_string()));
  request.target = std::string(View(message.target()));
  for (const auto& field : message) {
    std::string& value = request.headers[absl::AsciiStrToLower(View(field.name_string()))];
    absl::StrAppend(&value, value.empty() ? "" : ", ", View(field.value()));
  }
  request.peer = peer_;
  ParseTarget(request);
  return request;
}

void HttpConnection::Refuse(const ErrorCode& error) { Refuse(AnswerTo(error, context_.options)); }

void HttpConnection::Refuse(const HttpResponse& answer) {
  refused_ = true;
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

// Writes the next bytes unless a write is pending.
void HttpConnection::Pump() {
  if (exchange_) WatchExchange();
  if (closed_ || write_pending_ || lingering_) return;
  if (!queued_.empty()) {
    writing_ = std::exchange(queued_, {});
    write_pending_ = true;
    return Write(boost::asio::buffer(writing_));
  }
  if (refused_) return Linger();
  if (exchange_) return PumpExchange();
  if (peer_ended_) Close();
}

// Acts on what the handler did, even while a write is stuck because the peer does not read.
void HttpConnection::WatchExchange() {
  const Exchange::Progress progress = exchange_->progress();
  if (progress == Exchange::Progress::kAborted) return Close();
  if (progress == Exchange::Progress::kStreaming && peer_ended_) return Close();
  // A peer may read a stream slowly, but has to read the end of an answer in time.
  if (progress == Exchange::Progress::kFinished && deadline_nanos_ == INT64_MAX) {
    SetDeadline(context_.options.idle_timeout);
  }
}

void HttpConnection::PumpExchange() {
  Exchange::Output output = exchange_->Take();
  if (output.bytes.empty()) {
    if (output.finished) EndExchange();
    return;
  }
  writing_ = std::move(output.bytes);
  write_pending_ = true;
  Write(boost::asio::buffer(writing_));
}

void HttpConnection::OnWritten(const ErrorCode& error) {
  write_pending_ = false;
  if (closed_) return;
  if (error) return Close();
  if (writing_.capacity() > kKeptBufferBytes) writing_ = {};
  Pump();
}

void HttpConnection::EndExchange() {
  const bool keep_alive = exchange_->keep_alive();
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
  context_.table.Remove(this);
}

}  // namespace base::internal
