#include "base/internal/http_connection.h"

#include <chrono>
#include <optional>
#include <utility>

#include <boost/asio/post.hpp>
#include <boost/asio/ssl/stream.hpp>
#include <boost/asio/steady_timer.hpp>
#include <boost/asio/write.hpp>
#include <boost/beast/core/flat_buffer.hpp>
#include <boost/beast/core/tcp_stream.hpp>
#include <boost/beast/http/parser.hpp>
#include <boost/beast/http/read.hpp>
#include <boost/beast/http/string_body.hpp>

#include "absl/strings/ascii.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/string_view.h"

namespace base::internal {
namespace {

namespace net = boost::asio;
namespace beast = boost::beast;
namespace http = boost::beast::http;
using boost::system::error_code;
using PlainStream = beast::tcp_stream;
using TlsStream = net::ssl::stream<beast::tcp_stream>;

// How long a peer may take to accept a piece of an answer, or to shake hands.
constexpr auto kWriteTimeout = std::chrono::seconds(60);
constexpr auto kHandshakeTimeout = std::chrono::seconds(15);

std::chrono::nanoseconds Chrono(absl::Duration d) { return absl::ToChronoNanoseconds(d); }

HttpRequest Convert(http::request<http::string_body> message) {
  HttpRequest request;
  request.method = std::string(message.method_string());
  request.target = std::string(message.target());
  for (const auto& field : message) {
    std::string name = absl::AsciiStrToLower(
        absl::string_view(field.name_string().data(), field.name_string().size()));
    std::string& value = request.headers[std::move(name)];
    if (!value.empty()) value += ", ";
    value.append(field.value().data(), field.value().size());
  }
  request.body = std::move(message.body());
  ParseTarget(request);
  return request;
}

// The answer to a request that could not be read.
HttpResponse Refusal(const error_code& error) {
  HttpResponse response;
  response.code = 400;
  if (error == http::error::body_limit) response.code = 413;
  if (error == http::error::header_limit) response.code = 431;
  response.content_type = "text/plain";
  response.body = absl::StrCat(error.message(), "\n");
  return response;
}

template <class Stream>
class ConnectionOver : public Connection,
                       public OutputListener,
                       public std::enable_shared_from_this<ConnectionOver<Stream>> {
 public:
  ConnectionOver(Stream stream, const ConnectionContext& context, std::function<void()> on_end)
      : stream_(std::move(stream)),
        context_(context),
        on_end_(std::move(on_end)),
        idle_timer_(stream_.get_executor()) {}

  ~ConnectionOver() override { End(); }

  void Start();
  void Drop() override {
    net::post(stream_.get_executor(), [self = this->shared_from_this()] { self->End(); });
  }
  void Wake() override {
    net::post(stream_.get_executor(), [self = this->shared_from_this()] { self->Pump(); });
  }

 private:
  beast::tcp_stream& tcp() { return beast::get_lowest_layer(stream_); }

  // Waits for the first bytes of the next request; this also notices a peer that goes away while
  // its answer is still being produced.
  void AwaitInput();
  void OnInput(const error_code& error, size_t size);
  void ReadRequest();
  void OnRequest(const error_code& error);
  void Serve(HttpRequest request, const ResponseRules& rules);
  void Refuse(const error_code& error);
  void Pump();
  void OnWritten(const error_code& error);
  void FinishAnswer();
  // Ends a connection that stays without a request.
  void StartIdleTimer();
  void End();

  Stream stream_;
  const ConnectionContext context_;
  std::function<void()> on_end_;
  net::steady_timer idle_timer_;
  beast::flat_buffer buffer_;
  std::optional<http::request_parser<http::string_body>> parser_;
  std::shared_ptr<Exchange> exchange_;  // Null between requests.
  Exchange::Output output_;             // Being written.
  bool writing_ = false;
  bool has_input_ = false;  // The next request has begun to arrive.
  bool ended_ = false;
};

template <>
void ConnectionOver<PlainStream>::Start() {
  AwaitInput();
}

template <>
void ConnectionOver<TlsStream>::Start() {
  tcp().expires_after(kHandshakeTimeout);
  stream_.async_handshake(net::ssl::stream_base::server,
                          [self = this->shared_from_this()](const error_code& error) {
                            if (error) return self->End();
                            self->AwaitInput();
                          });
}

template <class Stream>
void ConnectionOver<Stream>::AwaitInput() {
  if (exchange_ == nullptr) StartIdleTimer();
  tcp().expires_never();
  stream_.async_read_some(buffer_.prepare(16 << 10),
                          [self = this->shared_from_this()](const error_code& error, size_t size) {
                            self->OnInput(error, size);
                          });
}

template <class Stream>
void ConnectionOver<Stream>::OnInput(const error_code& error, size_t size) {
  if (error || ended_) return End();
  buffer_.commit(size);
  has_input_ = true;
  if (exchange_ == nullptr) ReadRequest();
}

template <class Stream>
void ConnectionOver<Stream>::ReadRequest() {
  has_input_ = false;
  parser_.emplace();
  parser_->header_limit(static_cast<uint32_t>(context_.options.max_header_bytes));
  parser_->body_limit(context_.options.max_body_bytes);
  tcp().expires_after(Chrono(context_.options.request_timeout));
  http::async_read(stream_, buffer_, *parser_,
                   [self = this->shared_from_this()](const error_code& error, size_t) {
                     self->OnRequest(error);
                   });
}

template <class Stream>
tls::PeerIdentity IdentityOf(Stream&) {
  return {};
}
tls::PeerIdentity IdentityOf(TlsStream& stream) { return tls::PeerOf(stream.native_handle()); }

template <class Stream>
void ConnectionOver<Stream>::OnRequest(const error_code& error) {
  if (ended_) return;
  if (error == http::error::body_limit || error == http::error::header_limit ||
      error.category() == make_error_code(http::error::bad_method).category()) {
    if (error == http::error::end_of_stream) return End();
    return Refuse(error);
  }
  if (error) return End();
  http::request<http::string_body> message = parser_->release();
  parser_.reset();
  ResponseRules rules;
  rules.http10 = message.version() == 10;
  rules.keep_alive = message.keep_alive();
  rules.head = message.method() == http::verb::head;
  HttpRequest request = Convert(std::move(message));
  request.peer = IdentityOf(stream_);
  Serve(std::move(request), rules);
}

template <class Stream>
void ConnectionOver<Stream>::Refuse(const error_code& error) {
  parser_.reset();
  ResponseRules rules;
  rules.keep_alive = false;
  exchange_ = std::make_shared<Exchange>(
      Exchange::Options{rules, context_.options.max_stream_backlog_bytes, context_.threads}, *this);
  exchange_->Send(Refusal(error));
  Pump();
}

template <class Stream>
void ConnectionOver<Stream>::Serve(HttpRequest request, const ResponseRules& rules) {
  exchange_ = std::make_shared<Exchange>(
      Exchange::Options{rules, context_.options.max_stream_backlog_bytes, context_.threads}, *this);
  has_input_ = buffer_.size() > 0;
  if (!has_input_) AwaitInput();
  context_.handler(std::move(request), NewResponder(exchange_));
  Pump();
}

template <class Stream>
void ConnectionOver<Stream>::Pump() {
  if (ended_ || writing_ || exchange_ == nullptr) return;
  output_ = exchange_->Take();
  if (output_.aborted) return End();
  if (output_.bytes.empty()) {
    if (output_.finished) FinishAnswer();
    return;
  }
  writing_ = true;
  tcp().expires_after(kWriteTimeout);
  net::async_write(stream_, net::buffer(output_.bytes),
                   [self = this->shared_from_this()](const error_code& error, size_t) {
                     self->OnWritten(error);
                   });
}

template <class Stream>
void ConnectionOver<Stream>::OnWritten(const error_code& error) {
  writing_ = false;
  if (error || ended_) return End();
  if (output_.finished) return FinishAnswer();
  Pump();
}

template <class Stream>
void ConnectionOver<Stream>::FinishAnswer() {
  const bool keep_alive = exchange_->keep_alive();
  std::exchange(exchange_, nullptr)->Detach();
  if (!keep_alive) return End();
  // The pending read, or the bytes it brought, start the next request.
  if (has_input_) return ReadRequest();
  StartIdleTimer();
}

template <class Stream>
void ConnectionOver<Stream>::StartIdleTimer() {
  idle_timer_.expires_after(Chrono(context_.options.idle_timeout));
  idle_timer_.async_wait([self = this->shared_from_this()](const error_code& error) {
    if (!error && self->exchange_ == nullptr && !self->parser_.has_value()) self->End();
  });
}

template <class Stream>
void ConnectionOver<Stream>::End() {
  if (std::exchange(ended_, true)) return;
  error_code ignored;
  idle_timer_.cancel(ignored);
  tcp().socket().shutdown(net::ip::tcp::socket::shutdown_both, ignored);
  tcp().close();
  if (exchange_ != nullptr) std::exchange(exchange_, nullptr)->Detach();
  on_end_();
}

}  // namespace

std::shared_ptr<Connection> StartConnection(net::ip::tcp::socket socket,
                                            const ConnectionContext& context,
                                            std::function<void()> on_end) {
  error_code ignored;
  socket.set_option(net::ip::tcp::no_delay(true), ignored);
  if (context.tls == nullptr) {
    auto plain = std::make_shared<ConnectionOver<PlainStream>>(PlainStream(std::move(socket)),
                                                               context, std::move(on_end));
    plain->Start();
    return plain;
  }
  auto secure = std::make_shared<ConnectionOver<TlsStream>>(
      TlsStream(PlainStream(std::move(socket)), *context.tls), context, std::move(on_end));
  secure->Start();
  return secure;
}

}  // namespace base::internal
